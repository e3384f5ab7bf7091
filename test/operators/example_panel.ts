import { compile, writtenDag } from "../../src/compile.ts";
import type { Example, Operator } from "../../src/operator/definition.ts";
import { panelOf } from "../panels.ts";

/** Vectors of an example run down the rows of one lane, or across the lanes of one row. */
export function panelOfExample(example: Example, operator: Operator) {
  const axis = axisOf(example, operator);
  const runsAcross = axis === "cross_section" || axis === "group";
  const columns = Object.entries(example.inputs).map(([name, cells]) => {
    return [name, runsAcross ? [[...cells]] : cells.map((cell) => [cell])] as const;
  });
  return panelOf(Object.fromEntries(columns));
}

/** That of the operator that is applied last: a rewrite itself reads nothing. */
function axisOf({ formula, inputs }: Example, operator: Operator): Operator["axis"] {
  if (operator.axis !== "rewrite") return operator.axis;
  const dag = writtenDag(compile(`result = ${formula}`, { fields: Object.keys(inputs) }));
  const last = dag.tasks[dag.outputs[0]!.task]!;
  return last.kind === "call" ? last.operator.axis : "elementwise";
}
