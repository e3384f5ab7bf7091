import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "boll_upper",
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "n", kind: "window", default: 20 },
    { name: "k", kind: "constant", default: 2 },
  ],
  result: "series",
  unit: "same",
  summary:
    "Upper Bollinger band: the mean over the last n rows plus k population standard deviations (ddof 0).",
  nulls: "Null until n rows exist, while any value among them is null, and for n = 1.",
  source: "Bollinger (2001), Bollinger on Bollinger Bands; TA-Lib BBANDS",
  formula: "ts_mean(x, n) + k * sqrt(ts_var(x, n) * (n - 1) / n)",
  examples: [
    {
      formula: "boll_upper(x, 3)",
      inputs: { x: [1, 2, 4, null, 5, 6, 9, 9] },
      output: [null, null, 4.8277715911826276, null, null, null, 10.066013009061857, 10.82842712474619],
    },
    { formula: "boll_upper(x, 2, 1)", inputs: { x: [1, 3, 3, null] }, output: [null, 3, 3, null] },
  ],
});
