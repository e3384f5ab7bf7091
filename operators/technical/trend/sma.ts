import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "sma",
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "n", kind: "window" },
  ],
  result: "series",
  unit: "same",
  summary: "Simple moving average: the mean over the last n rows, exact and rounded once.",
  nulls: "Null until n rows exist and while any value among them is null.",
  source: "Murphy (1999), Technical Analysis of the Financial Markets, ch. 9; TA-Lib SMA",
  formula: "ts_mean(x, n)",
  examples: [
    {
      formula: "sma(x, 3)",
      inputs: { x: [1, 2, 4, null, 5, 6, 8] },
      output: [null, null, 2.3333333333333335, null, null, null, 6.333333333333333],
    },
  ],
});
