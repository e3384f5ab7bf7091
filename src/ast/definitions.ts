import { DIALECTS } from "../../grammar/dialects.ts";
import { spelledName } from "../../grammar/names.ts";
import type {
  BrokenSyntax,
  FactorSyntax,
  LetSyntax,
  NameSyntax,
  ParamSyntax,
  StatementSyntax,
  Syntax,
} from "../../grammar/syntax.ts";
import type { DialectName } from "../operator/definition.ts";
import type { Registry } from "../operator/registry.ts";
import type { Span } from "../text/source.ts";
import type { Param } from "./program.ts";
import type { Report } from "./report.ts";

/** A `let` or a factor, with the conditions of the blocks around it, or what a broken statement would have defined. */
export interface Definition {
  readonly statement: FactorSyntax | LetSyntax | BrokenSyntax;
  readonly conditions: readonly Syntax[];
  /** True once a mistake in it has been reported: its uses are then not reported. */
  isBroken: boolean;
}

/** All names that a file defines; no two differ in letter case only. */
export interface Definitions {
  readonly byName: ReadonlyMap<string, Definition>;
  readonly params: ReadonlyMap<string, Param>;
}

/** Collects a file's definitions; reports names that are taken (E207). */
export function collectDefinitions(
  statements: readonly StatementSyntax[],
  registry: Registry,
  dialect: DialectName,
  report: Report,
): Definitions {
  const byName = new Map<string, Definition>();
  const params = new Map<string, Param>();
  const taken = new Map<string, Defining>();
  const blocks: (readonly Syntax[])[] = [[]];
  for (const statement of statements) {
    const conditions = blocks.at(-1) as readonly Syntax[];
    if (statement.kind === "blockStart") blocks.push([...conditions, statement.condition]);
    // The start of the block may be a broken statement.
    if (statement.kind === "blockEnd" && blocks.length > 1) blocks.pop();
    if (!isDefining(statement)) continue;
    const { nameSpan } = statement;
    const name = withoutFieldSign(statement.name, nameSpan, dialect, report);
    // Factor names become column names, which many readers compare without letter case.
    const earlier = taken.get(name.toLowerCase());
    if (earlier) {
      reportTwice(statement, earlier, report);
      continue;
    }
    taken.set(name.toLowerCase(), statement);
    if (statement.kind === "let") {
      for (const parameter of statement.parameters ?? [])
        withoutFieldSign(parameter.name, parameter, dialect, report);
    }
    if (statement.kind === "param") params.set(name, { name, default: statement.default });
    else byName.set(name, definitionOf(statement, conditions));
    if (statement.kind !== "let" || !statement.parameters) continue;
    reportParametersTwice(statement.parameters, report);
    if (registry.find(name, dialect)) {
      report.add("E207", nameSpan, `${spelledName(name)} is the name of an operator`, "choose another name");
    }
  }
  return { byName, params };
}

/** How a definition with parameters is called. */
export function letSignature({ name, parameters }: LetSyntax): string {
  return `${spelledName(name)}(${(parameters ?? []).map((parameter) => spelledName(parameter.name)).join(", ")})`;
}

/** Refuses `$close = ...` (E207) where `$` marks fields. */
function withoutFieldSign(name: string, span: Span, dialect: DialectName, report: Report): string {
  if (!name.startsWith("$") || !DIALECTS[dialect].spellings.includes("$")) return name;
  const plain = name.slice(1);
  const remedy = `write ${spelledName(plain)}`;
  report.add("E207", span, `${name} cannot be defined: $ stands before fields`, remedy);
  return plain;
}

type Defining = FactorSyntax | LetSyntax | ParamSyntax | BrokenSyntax;

function isDefining(statement: StatementSyntax): statement is Defining {
  if (statement.kind === "broken") return statement.keyword !== "dialect";
  return statement.kind === "factor" || statement.kind === "let" || statement.kind === "param";
}

function definitionOf(
  statement: Exclude<Defining, ParamSyntax>,
  blockConditions: readonly Syntax[],
): Definition {
  const own = statement.kind === "factor" ? statement.condition : null;
  const conditions = own ? [...blockConditions, own] : blockConditions;
  return { statement, conditions, isBroken: statement.kind === "broken" };
}

function reportTwice({ name, nameSpan }: Defining, earlier: Defining, report: Report): void {
  const { line } = report.source.position(earlier.nameSpan.start);
  const [one, other] = [spelledName(name), spelledName(earlier.name)];
  const message =
    one === other ? `${one} is defined twice` : `${one} and ${other} differ in letter case only`;
  report.add("E207", nameSpan, message, `the first definition stands in line ${line}; rename one`);
}

function reportParametersTwice(parameters: readonly NameSyntax[], report: Report): void {
  const seen = new Set<string>();
  for (const parameter of parameters) {
    const folded = parameter.name.toLowerCase();
    if (seen.has(folded)) {
      const message = `parameter ${spelledName(parameter.name)} is given twice`;
      report.add("E207", parameter, message, "rename one");
    }
    seen.add(folded);
  }
}
