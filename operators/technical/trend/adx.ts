import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "adx",
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
    "Average directional index: Wilder's average of the difference of both directional indicators in " +
    "percent of their sum.",
  nulls:
    "Null until both directional indicators exist and one is not 0; at a null the indicators are carried " +
    "over and their average moves on.",
  source: "Wilder (1978), New Concepts in Technical Trading Systems; TA-Lib ADX except for the seeds",
  formula:
    "rma(100 * (abs(plus_di(high, low, close, n) - minus_di(high, low, close, n)) / " +
    "(plus_di(high, low, close, n) + minus_di(high, low, close, n))), n)",
  examples: [
    {
      formula: "adx(high, low, close, 2)",
      inputs: {
        high: [10, 12, 13, 12, 11, null, 14],
        low: [8, 9, 11, 10, 7, 8, 12],
        close: [9, 11, 12, 11, 8, 9, 13],
      },
      output: [null, 100, 100, 60, 62.352941176470594, 63.52941176470589, 64.11764705882354],
    },
    {
      formula: "adx(high, low, close)",
      inputs: { high: [10, 12, 13, 12], low: [8, 9, 11, 10], close: [9, 11, 12, 11] },
      output: [null, 100, 100, 99.45205479452055],
    },
  ],
});
