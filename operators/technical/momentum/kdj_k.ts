import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "kdj_k",
  axis: "rewrite",
  parameters: [
    { name: "high", kind: "series" },
    { name: "low", kind: "series" },
    { name: "close", kind: "series" },
    { name: "n", kind: "window", default: 9 },
    { name: "m1", kind: "window", default: 3 },
  ],
  result: "series",
  unit: "none",
  summary:
    "Smoothed stochastic: sma_cn over m1 of the place of close between the extremes of the last n rows, 0 " +
    "to 100.",
  nulls:
    "Null until n rows exist; where their range is 0 or a value is null the last result is carried over.",
  source:
    "Lane (1984), Lane's Stochastics, Technical Analysis of Stocks and Commodities 2(3); KDJ of the " +
    "Tongdaxin formula language",
  formula: "sma_cn(100 * ((close - ts_min(low, n)) / (ts_max(high, n) - ts_min(low, n))), m1, 1)",
  examples: [
    {
      formula: "kdj_k(high, low, close, 3)",
      inputs: {
        high: [10, 12, 13, 12, 11, null, 14],
        low: [8, 9, 11, 10, 7, 8, 12],
        close: [9, 11, 12, 11, 8, 9, 13],
      },
      output: [null, null, 80, 70, 52.22222222222222, 52.22222222222222, 52.22222222222222],
    },
    {
      formula: "kdj_k(high, low, close, 2, 2)",
      inputs: { high: [5, 5, 5, 7], low: [5, 5, 5, 4], close: [5, 5, 5, 6] },
      output: [null, null, null, 66.66666666666666],
    },
  ],
});
