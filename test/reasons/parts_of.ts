import type { Expression } from "../../src/ast/nodes.ts";
import type { Program } from "../../src/compile.ts";
import type { WrittenPlace } from "../../src/reasons/explanation.ts";
import { traceProgram } from "../../src/reasons/traced_program.ts";
import { placeOf } from "../../src/reasons/written_place.ts";

/** The number of a sub-expression, by the places that it has in a factor: one that is written twice is one. */
export function partsOf(program: Program, factor: string): (place: WrittenPlace) => number {
  const { bound, source } = program.written;
  const { taskOf } = traceProgram(program, [factor]);
  const parts = new Map<string, number>();
  const keyOf = ({ formula, line, column }: WrittenPlace) => `${line}:${column} ${formula}`;
  const { expression } = bound.factors.find(({ name }) => name === factor)!;
  const seen = new Set<Expression>();
  const visit = (part: Expression, parent: Expression | null) => {
    parts.set(keyOf(placeOf(source, part, parent)), taskOf.get(part)!);
    if (seen.has(part) || part.kind !== "call") return;
    seen.add(part);
    for (const arg of part.args) visit(arg, part);
  };
  visit(expression, null);
  return (place) => {
    const part = parts.get(keyOf(place));
    if (part === undefined) throw new Error(`${factor} has no ${keyOf(place)}`);
    return part;
  };
}
