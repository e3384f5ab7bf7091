import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "plus_di",
  axis: "rewrite",
  parameters: [
    { name: "high", kind: "series" },
    { name: "low", kind: "series" },
    { name: "close", kind: "series" },
    { name: "n", kind: "window", default: 14 },
  ],
  result: "series",
  unit: "none",
  summary:
    "Positive directional indicator: Wilder's average of the upward movements, where they exceed the " +
    "downward ones, in percent of the average true range.",
  nulls:
    "Null in the first row and while the average true range is 0; at a null the averages are carried over.",
  source: "Wilder (1978), New Concepts in Technical Trading Systems; TA-Lib PLUS_DI except for the seed",
  formula:
    "100 * (rma(delta(high, 1) > max(-delta(low, 1), 0) ? delta(high, 1) : 0, n) / atr(high, low, close, " +
    "n))",
  examples: [
    {
      formula: "plus_di(high, low, close, 2)",
      inputs: {
        high: [10, 12, 13, 12, 11, null, 14],
        low: [8, 9, 11, 10, 7, 8, 12],
        close: [9, 11, 12, 11, 8, 9, 13],
      },
      output: [null, 66.66666666666666, 60, 33.33333333333333, 12, 12, 9.230769230769232],
    },
    {
      formula: "plus_di(high, low, close)",
      inputs: { high: [10, 12, 13, 12], low: [8, 9, 11, 10], close: [9, 11, 12, 11] },
      output: [null, 66.66666666666666, 65.85365853658537, 62.5668449197861],
    },
  ],
});
