import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "ts_min_diff",
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "same",
  summary: "Today's value minus the least of the last d rows.",
  nulls: "Null until d rows exist and while any value in the window is null.",
  source: "ts_min_diff(x, d) of the WorldQuant BRAIN operators",
  formula: "x - ts_min(x, d)",
  examples: [
    { formula: "ts_min_diff(x, 3)", inputs: { x: [3, 1, 2, 5, null] }, output: [null, null, 1, 4, null] },
  ],
});
