import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "ts_percentage",
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
    { name: "percentage", kind: "constant", default: 0.5 },
  ],
  result: "series",
  unit: "same",
  summary: "The quantile of the last d rows at a percentage from 0 to 1, the median if none is given.",
  nulls: "Null until d rows exist and while any value in the window is null.",
  source: "ts_percentage(x, d, percentage=0.5) of the WorldQuant BRAIN operators, interpolated as by pandas",
  formula: "ts_quantile(x, d, percentage)",
  examples: [
    { formula: "ts_percentage(x, 3)", inputs: { x: [5, 1, 3, 9, null] }, output: [null, null, 3, 3, null] },
    {
      formula: "ts_percentage(x, 4, percentage=0.2)",
      inputs: { x: [10, 20, 30, 40, 50] },
      output: [null, null, null, 16, 26],
    },
  ],
});
