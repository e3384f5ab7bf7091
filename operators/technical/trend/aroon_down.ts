import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "aroon_down",
  axis: "rewrite",
  parameters: [
    { name: "low", kind: "series" },
    { name: "n", kind: "window", default: 25 },
  ],
  result: "series",
  unit: "none",
  summary:
    "Nearness of the lowest of the last n + 1 values: 100 in its row, 0 after n rows; the oldest of equal " +
    "ones counts.",
  nulls: "Null until n + 1 rows exist and while any value among them is null.",
  source:
    "Chande (1995), The Time Price Oscillator, Technical Analysis of Stocks and Commodities 13(9); TA-Lib " +
    "AROON, which takes the latest of equal extremes",
  formula: "100 * ((ts_argmin(low, n + 1) - 1) / n)",
  examples: [
    {
      formula: "aroon_down(x, 3)",
      inputs: { x: [2, 4, 1, 3, 1, 5, 4] },
      output: [null, null, null, 66.66666666666666, 33.33333333333333, 0, 33.33333333333333],
    },
    { formula: "aroon_down(x, 2)", inputs: { x: [4, 3, 3, 5] }, output: [null, null, 50, 0] },
  ],
});
