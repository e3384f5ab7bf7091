import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "true_range",
  axis: "rewrite",
  parameters: [
    { name: "high", kind: "series" },
    { name: "low", kind: "series" },
    { name: "close", kind: "series" },
  ],
  result: "series",
  unit: "same",
  summary:
    "Range of the row, reaching back to the last close: the largest of high - low and the distances of " +
    "both from it.",
  nulls: "Null in the first row and where high, low or the last close is null.",
  source: "Wilder (1978), New Concepts in Technical Trading Systems; TA-Lib TRANGE",
  formula: "max(max(high - low, abs(high - delay(close, 1))), abs(low - delay(close, 1)))",
  examples: [
    {
      formula: "true_range(high, low, close)",
      inputs: { high: [10, 12, 13, 9, null, 14], low: [8, 11, 10, 7, 8, 12], close: [9, 11, 12, 8, 9, 13] },
      output: [null, 3, 3, 5, null, 5],
    },
  ],
});
