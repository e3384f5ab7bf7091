import { DIALECTS, type Dialect } from "../../grammar/dialects.ts";
import { parseFormulas } from "../../grammar/parse.ts";
import { builtInRegistry } from "../../operators/index.ts";
import { bind } from "../../src/ast/bind.ts";
import type { CallNode, Expression } from "../../src/ast/nodes.ts";
import type { Factor } from "../../src/ast/program.ts";
import { Report } from "../../src/ast/report.ts";
import { FormulaError } from "../../src/errors.ts";
import { renderDiagnostics, Source } from "../../src/text/source.ts";

/** What formulas of a test may name. */
export interface FormulaNames {
  readonly fields: readonly string[];
  readonly groups: readonly string[];
  readonly params?: readonly string[];
}

/** The typed tree of a formula in dialect `native`. @throws FormulaError */
export function bindFormula(formula: string, names: FormulaNames): Expression {
  const declarations = (names.params ?? []).map((name) => `param ${name} = 1\n`).join("");
  return bindFile(`${declarations}the_formula = ${formula}`, names)[0]!.expression;
}

/** The typed trees of the factors of a formula file. @throws FormulaError */
export function bindFile(
  text: string,
  { fields, groups }: FormulaNames,
  dialect: Dialect = DIALECTS.native,
): readonly Factor[] {
  const source = new Source("test", text);
  const { statements, diagnostics } = parseFormulas(source, dialect);
  const report = new Report(source);
  const options = { fields, groups, universe: null, dialect, registry: builtInRegistry };
  const { factors } = bind(statements, options, report);
  const all = [...diagnostics, ...report.diagnostics];
  if (all.length > 0) throw new FormulaError(all, renderDiagnostics(all));
  return factors;
}

/**
 * Where two trees differ first, in words; undefined if they are equal: operators, arguments, settings, constants. A
 * number is equal to a sum of that value: what has no literal (`-2`) is written as one.
 */
export function treeDifference(first: Expression, second: Expression): string | undefined {
  const pending: [Expression, Expression][] = [[first, second]];
  const seen = new Map<Expression, Expression>();
  for (let pair = pending.pop(); pair; pair = pending.pop()) {
    const [a, b] = pair;
    if (seen.get(a) === b) continue;
    seen.set(a, b);
    if ((a.kind === "number" || b.kind === "number") && Object.is(a.constant, b.constant)) continue;
    if (a.kind !== b.kind || a.type !== b.type)
      return `${a.kind} of type ${a.type}, ${b.kind} of type ${b.type}`;
    if (!Object.is(a.constant, b.constant)) return `${a.kind} of value ${a.constant}, of value ${b.constant}`;
    if ("name" in a && "name" in b && a.name !== b.name) return `${a.name}, ${b.name}`;
    if (a.kind !== "call" || b.kind !== "call") continue;
    const difference = callDifference(a, b);
    if (difference !== undefined) return difference;
    a.args.forEach((arg, i) => {
      pending.push([arg, b.args[i]!]);
    });
  }
  return undefined;
}

function callDifference(a: CallNode, b: CallNode): string | undefined {
  const [first, second] = [a, b].map(({ operator, args, group, settings, minPeriods }) =>
    JSON.stringify([
      operator.name,
      args.length,
      group?.name ?? null,
      Object.entries(settings).map(([name, value]) => [name, Object.is(value, -0) ? "-0" : value]),
      minPeriods,
    ]),
  );
  return first === second ? undefined : `${first}, ${second}`;
}
