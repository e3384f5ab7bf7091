import { DIALECTS, type Dialect } from "../../grammar/dialects.ts";
import { spelledName } from "../../grammar/names.ts";
import { type Syntax, syntaxBelow } from "../../grammar/syntax.ts";
import type { Definition } from "./definitions.ts";
import type { Names } from "./names.ts";
import type { Report } from "./report.ts";

/** Names of a cycle that a message shows. */
const SHOWN_NAMES_MAX = 6;

/** Sorts definitions so that each follows all that it uses; reports cycles (E208). */
export function orderByUse(
  definitions: Iterable<Definition>,
  names: Names,
  dialect: Dialect,
  report: Report,
): Definition[] {
  return usedFirst(
    definitions,
    (definition) => usesOf(definition, names, dialect),
    (cycle) => reportCycle(cycle, report),
  );
}

/**
 * Sorts items so that each follows all that it uses, which are added. Depth-first with an explicit stack, since chains
 * of definitions may be long.
 *
 * @param usesOf what one uses, the first use first
 * @param onCycle receives items of which each uses the next one, and the last one the first
 */
export function usedFirst<T>(
  items: Iterable<T>,
  usesOf: (item: T) => Iterable<T>,
  onCycle: (cycle: readonly T[]) => void,
): T[] {
  const ordered: T[] = [];
  const state = new Map<T, "open" | "done">();
  for (const root of items) {
    const path: { item: T; uses: T[] }[] = [];
    const enter = (item: T) => {
      state.set(item, "open");
      path.push({ item, uses: [...usesOf(item)].reverse() });
    };
    if (!state.has(root)) enter(root);
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const next = top.uses.pop();
      if (!next) {
        state.set(top.item, "done");
        ordered.push(top.item);
        path.pop();
      } else if (!state.has(next)) {
        enter(next);
      } else if (state.get(next) === "open") {
        onCycle(path.slice(path.findIndex(({ item }) => item === next)).map(({ item }) => item));
      }
    }
  }
  return ordered;
}

function reportCycle(cycle: readonly Definition[], report: Report): void {
  const names = cycle.map(({ statement }) => spelledName(statement.name));
  const { nameSpan } = (cycle[0] as Definition).statement;
  for (const definition of cycle) definition.isBroken = true;
  const isLong = names.length > SHOWN_NAMES_MAX;
  const shown = isLong ? [...names.slice(0, SHOWN_NAMES_MAX - 1), "...", names.at(-1)] : names;
  const message = `${names[0]} uses itself: ${[...shown, names[0]].join(" -> ")}`;
  report.add("E208", nameSpan, message, "a definition may only use others");
}

/** The definitions that one uses, each once. */
function usesOf({ statement }: Definition, names: Names, dialect: Dialect): Iterable<Definition> {
  if (statement.kind === "broken") return [];
  const parameters = statement.kind === "let" ? (statement.parameters ?? []) : [];
  const hidden = new Set(parameters.map(({ name }) => name.toLowerCase()));
  const uses = new Set<Definition>();
  const use = (name: string, inDialect: Dialect) => {
    const meaning = names.resolve(name, inDialect);
    if (meaning?.kind === "definition") uses.add(meaning.definition);
    return meaning;
  };
  const written = namesIn(statement.expression);
  for (const name of written.values) {
    if (hidden.has(name.toLowerCase())) continue;
    const meaning = use(name, dialect);
    if (meaning?.kind !== "derived") continue;
    for (const inner of namesIn(meaning.expression).values) use(inner, DIALECTS.native);
  }
  for (const name of written.functions) {
    const macro = names.findMacro(name);
    if (macro) uses.add(macro);
  }
  return uses;
}

/** Every name in an expression, function names apart: a factor `rank` may call the function rank. */
function namesIn(syntax: Syntax): { values: Set<string>; functions: Set<string> } {
  const values = new Set<string>();
  const functions = new Set<string>();
  for (const item of syntaxBelow(syntax)) {
    if (item.kind === "name") values.add(item.name);
    if (item.kind === "call" && !item.isSymbol) functions.add(item.name);
  }
  return { values, functions };
}
