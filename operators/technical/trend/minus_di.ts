import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "minus_di",
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
    "Negative directional indicator: Wilder's average of the downward movements, where they exceed the " +
    "upward ones, in percent of the average true range.",
  nulls:
    "Null in the first row and while the average true range is 0; at a null the averages are carried over.",
  source: "Wilder (1978), New Concepts in Technical Trading Systems; TA-Lib MINUS_DI except for the seed",
  formula:
    "100 * (rma(-delta(low, 1) > max(delta(high, 1), 0) ? -delta(low, 1) : 0, n) / atr(high, low, close, " +
    "n))",
  examples: [
    {
      formula: "minus_di(high, low, close, 2)",
      inputs: {
        high: [10, 12, 13, 12, 11, null, 14],
        low: [8, 9, 11, 10, 7, 8, 12],
        close: [9, 11, 12, 11, 8, 9, 13],
      },
      output: [null, 0, 0, 22.22222222222222, 56.00000000000001, 56.00000000000001, 43.07692307692308],
    },
    {
      formula: "minus_di(high, low, close)",
      inputs: { high: [10, 12, 13, 12], low: [8, 9, 11, 10], close: [9, 11, 12, 11] },
      output: [null, 0, 0, 2.4955436720142603],
    },
  ],
});
