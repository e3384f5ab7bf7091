import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "stable_correlation",
  aliases: { qlib: ["corr"] },
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "y", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "none",
  summary: "Pearson correlation of x and y over the last d rows, unless either side hardly moves.",
  nulls:
    "Null where the correlation is, and where the standard deviation of x or of y over the window is 2e-5 or less.",
  source: "Corr of qlib.data.ops: numpy.isclose(std, 0, atol=2e-05) of either side gives NaN",
  formula: "is_true(ts_std(x, d) <= 2e-5) || is_true(ts_std(y, d) <= 2e-5) ? null : correlation(x, y, d)",
  examples: [
    {
      formula: "stable_correlation(x, y, 3)",
      inputs: { x: [1, 2, 3, 3, 3.00001], y: [2, 4, 6, 6, 9] },
      output: [null, null, 1, 1, null],
    },
  ],
});
