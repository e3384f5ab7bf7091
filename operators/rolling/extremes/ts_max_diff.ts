import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "ts_max_diff",
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "same",
  summary: "Today's value minus the greatest of the last d rows: 0 or less.",
  nulls: "Null until d rows exist and while any value in the window is null.",
  source: "ts_max_diff(x, d) of the WorldQuant BRAIN operators",
  formula: "x - ts_max(x, d)",
  examples: [
    { formula: "ts_max_diff(x, 3)", inputs: { x: [3, 1, 2, 5, null] }, output: [null, null, -1, 0, null] },
  ],
});
