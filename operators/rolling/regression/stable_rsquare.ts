import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "stable_rsquare",
  aliases: { qlib: ["rsquare"] },
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "none",
  summary:
    "Share of the variance that the least-squares line through the last d rows explains, unless the values hardly move.",
  nulls: "Null where ts_rsquare is, and where the standard deviation of the window is 2e-5 or less.",
  source: "Rsquare of qlib.data.ops: numpy.isclose(std, 0, atol=2e-05) gives NaN",
  formula: "is_true(ts_std(x, d) <= 2e-5) ? null : ts_rsquare(x, d)",
  examples: [
    {
      formula: "stable_rsquare(x, 3)",
      inputs: { x: [1, 2, 6, 6, 6.00001, 6.00002] },
      output: [null, null, 0.8928571428571429, 0.75, null, null],
    },
  ],
});
