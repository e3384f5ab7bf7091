import { derivedFormula } from "../../grammar/dialects.ts";
import { parseFormulas } from "../../grammar/parse.ts";
import type { FactorSyntax, LetSyntax, StatementSyntax, Syntax } from "../../grammar/syntax.ts";
import type { Registry } from "../operator/registry.ts";
import { Source } from "../text/source.ts";
import type { Param } from "./program.ts";
import type { Report } from "./report.ts";

/** A `let` or a factor, with the conditions of the blocks around it. */
export interface Definition {
  readonly statement: FactorSyntax | LetSyntax;
  readonly conditions: readonly Syntax[];
  /** True once an error in it has been reported; its uses are then not complained about. */
  isBroken: boolean;
}

/** All names that a file defines. */
export interface Definitions {
  /** In an order in which each follows all that it uses. */
  readonly ordered: readonly Definition[];
  readonly byName: ReadonlyMap<string, Definition>;
  readonly params: ReadonlyMap<string, Param>;
}

/** Collects what a file defines; reports doubled names (E207) and cycles (E208). */
export function collectDefinitions(
  statements: readonly StatementSyntax[],
  registry: Registry,
  report: Report,
): Definitions {
  const byName = new Map<string, Definition>();
  const params = new Map<string, Param>();
  const taken = new Map<string, string>();
  const blocks: Syntax[] = [];
  for (const statement of statements) {
    if (statement.kind === "blockStart") blocks.push(statement.condition);
    if (statement.kind === "blockEnd") blocks.pop();
    if (!("name" in statement) || statement.kind === "dialect") continue;
    const { name, nameSpan } = statement;
    // Names of factors become column names, which many readers tell apart without letter case.
    const earlier = taken.get(name.toLowerCase());
    if (earlier !== undefined) {
      const line = report.source.position((byName.get(earlier)?.statement ?? statement).start).line;
      report.add(
        "E207",
        nameSpan,
        `${name} is defined twice`,
        `the first definition stands in line ${line}; rename one`,
      );
      continue;
    }
    taken.set(name.toLowerCase(), name);
    if (statement.kind === "let" && statement.parameters && registry.find(name, "native")) {
      report.add("E207", nameSpan, `${name} is the name of an operator`, "choose another name");
    }
    if (statement.kind === "param") params.set(name, { name, default: statement.default });
    else byName.set(name, { statement, conditions: conditionsOf(statement, blocks), isBroken: false });
  }
  return { ordered: orderByUse(byName, report), byName, params };
}

function conditionsOf(statement: FactorSyntax | LetSyntax, blocks: readonly Syntax[]): readonly Syntax[] {
  return statement.kind === "factor" && statement.condition ? [...blocks, statement.condition] : [...blocks];
}

/** Depth-first order over the uses of names, with an explicit stack: chains of definitions may be long. */
function orderByUse(byName: ReadonlyMap<string, Definition>, report: Report): Definition[] {
  const ordered: Definition[] = [];
  const state = new Map<Definition, "open" | "done">();
  for (const root of byName.values()) {
    const path: { definition: Definition; uses: Definition[] }[] = [];
    const enter = (definition: Definition) => {
      state.set(definition, "open");
      path.push({ definition, uses: usesOf(definition, byName) });
    };
    if (!state.has(root)) enter(root);
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const next = top.uses.pop();
      if (!next) {
        state.set(top.definition, "done");
        ordered.push(top.definition);
        path.pop();
      } else if (!state.has(next)) {
        enter(next);
      } else if (state.get(next) === "open") {
        const cycle = path.slice(path.findIndex(({ definition }) => definition === next));
        reportCycle(
          cycle.map(({ definition }) => definition),
          report,
        );
      }
    }
  }
  return ordered;
}

function reportCycle(cycle: readonly Definition[], report: Report): void {
  const names = cycle.map(({ statement }) => statement.name);
  const { name, nameSpan } = (cycle[0] as Definition).statement;
  for (const definition of cycle) definition.isBroken = true;
  const shown = names.length > 6 ? [...names.slice(0, 5), "...", names.at(-1)] : names;
  report.add(
    "E208",
    nameSpan,
    `${name} uses itself: ${[...shown, name].join(" -> ")}`,
    "a definition may only use others",
  );
}

/** The definitions that one uses, each once, the first use last (the caller takes from the end). */
function usesOf(definition: Definition, byName: ReadonlyMap<string, Definition>): Definition[] {
  const uses = new Set<Definition>();
  const { statement } = definition;
  const parameters = statement.kind === "let" ? (statement.parameters ?? []).map(({ name }) => name) : [];
  const hidden = new Set(parameters);
  for (const name of namesIn(statement.expression)) {
    if (hidden.has(name)) continue;
    const local = name.slice(name.indexOf(".") + 1);
    const used = byName.get(name) ?? byName.get(local);
    if (used) uses.add(used);
    const derived = used ? undefined : parseDerived(name);
    for (const inner of derived ? namesIn(derived) : []) {
      const innerUsed = byName.get(inner);
      if (innerUsed) uses.add(innerUsed);
    }
  }
  return [...uses].reverse();
}

/** Every name and function name in an expression. */
function namesIn(syntax: Syntax): Set<string> {
  const names = new Set<string>();
  const pending = [syntax];
  for (let item = pending.pop(); item; item = pending.pop()) {
    if (item.kind === "name") names.add(item.name);
    if (item.kind !== "call") continue;
    if (!item.isSymbol) names.add(item.name);
    for (const arg of item.args) pending.push(arg);
    for (const { value } of item.named) pending.push(value);
  }
  return names;
}

/** The expression of a derived series such as `adv20`, or undefined if there is none of that name. */
export function parseDerived(name: string): Syntax | undefined {
  const formula = derivedFormula(name.toLowerCase());
  if (formula === undefined) return undefined;
  const [statement] = parseFormulas(new Source(name, `derived = ${formula}`)).statements;
  return statement?.kind === "factor" ? statement.expression : undefined;
}
