import { paramWithoutValue } from "../ast/params.ts";
import type { ParamOptions } from "../call_params.ts";
import type { EvaluableProgram } from "../compile.ts";
import { joinPrograms, paramsApart } from "../evaluation/joined_programs.ts";

/** The first or the second of two programs that are compared. */
export type Side = "a" | "b";

/** The name that an output of one side has in the joined program. */
export const sideName = (side: Side, name: string): string => `${side} ${name}`;

/**
 * One program with the outputs of both sides (`joinPrograms`).
 *
 * @throws UsageError E528 for a value of another type than a default's; E555 where defaults differ and one is none, or a
 *   table of params may give values at some times only.
 */
export function joinSides(a: EvaluableProgram, b: EvaluableProgram, options: ParamOptions): EvaluableProgram {
  const hasNone = (name: string) => [a, b].some(({ params }) => params.get(name) === null);
  const [none] = paramsApart([a, b], options).filter(
    (name) => options.paramsByTime !== undefined || hasNone(name),
  );
  const joined = joinPrograms(
    [
      { program: a, called: "the first", outputName: (name) => sideName("a", name) },
      { program: b, called: "the second", outputName: (name) => sideName("b", name) },
    ],
    options,
  );
  if (none !== undefined) throw paramWithoutValue(none, "common value");
  return joined;
}
