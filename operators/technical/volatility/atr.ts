import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "atr",
  axis: "rewrite",
  parameters: [
    { name: "high", kind: "series" },
    { name: "low", kind: "series" },
    { name: "close", kind: "series" },
    { name: "n", kind: "window", default: 14 },
  ],
  result: "series",
  unit: "same",
  summary: "Average true range: Wilder's moving average of the true range.",
  nulls: "Null until the first true range; at a null the last result is carried over.",
  source: "Wilder (1978), New Concepts in Technical Trading Systems; TA-Lib ATR except for the seed",
  formula: "rma(true_range(high, low, close), n)",
  examples: [
    {
      formula: "atr(high, low, close, 2)",
      inputs: { high: [10, 12, 13, 9, null, 14], low: [8, 11, 10, 7, 8, 12], close: [9, 11, 12, 8, 9, 13] },
      output: [null, 3, 3, 4, 4, 4.5],
    },
    {
      formula: "atr(high, low, close)",
      inputs: { high: [10, 12, 13, 9], low: [8, 11, 10, 7], close: [9, 11, 12, 8] },
      output: [null, 3, 3, 3.142857142857143],
    },
  ],
});
