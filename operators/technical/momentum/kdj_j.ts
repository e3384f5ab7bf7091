import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "kdj_j",
  axis: "rewrite",
  parameters: [
    { name: "high", kind: "series" },
    { name: "low", kind: "series" },
    { name: "close", kind: "series" },
    { name: "n", kind: "window", default: 9 },
    { name: "m1", kind: "window", default: 3 },
    { name: "m2", kind: "window", default: 3 },
  ],
  result: "series",
  unit: "none",
  summary: "Lead of the smoothed stochastic over its signal line: 3 * kdj_k - 2 * kdj_d.",
  nulls:
    "Null until n rows exist; where their range is 0 or a value is null kdj_k is carried over and kdj_d " +
    "moves on towards it.",
  source:
    "Lane (1984), Lane's Stochastics, Technical Analysis of Stocks and Commodities 2(3); KDJ of the " +
    "Tongdaxin formula language",
  formula: "3 * kdj_k(high, low, close, n, m1) - 2 * kdj_d(high, low, close, n, m1, m2)",
  examples: [
    {
      formula: "kdj_j(high, low, close, 3)",
      inputs: {
        high: [10, 12, 13, 12, 11, null, 14],
        low: [8, 9, 11, 10, 7, 8, 12],
        close: [9, 11, 12, 11, 8, 9, 13],
      },
      output: [null, null, 80, 56.66666666666666, 19.62962962962962, 30.493827160493808, 37.736625514403286],
    },
    {
      formula: "kdj_j(high, low, close, 2, 2, 4)",
      inputs: { high: [5, 5, 5, 7], low: [5, 5, 5, 4], close: [5, 5, 5, 6] },
      output: [null, null, null, 66.66666666666666],
    },
  ],
});
