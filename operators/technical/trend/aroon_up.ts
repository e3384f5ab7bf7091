import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "aroon_up",
  axis: "rewrite",
  parameters: [
    { name: "high", kind: "series" },
    { name: "n", kind: "window", default: 25 },
  ],
  result: "series",
  unit: "none",
  summary:
    "Nearness of the highest of the last n + 1 values: 100 in its row, 0 after n rows; the oldest of equal " +
    "ones counts.",
  nulls: "Null until n + 1 rows exist and while any value among them is null.",
  source:
    "Chande (1995), The Time Price Oscillator, Technical Analysis of Stocks and Commodities 13(9); TA-Lib " +
    "AROON, which takes the latest of equal extremes",
  formula: "100 * ((ts_argmax(high, n + 1) - 1) / n)",
  examples: [
    {
      formula: "aroon_up(x, 3)",
      inputs: { x: [3, 5, 4, 4, 2, 6, null] },
      output: [null, null, null, 33.33333333333333, 0, 100, null],
    },
    { formula: "aroon_up(x, 2)", inputs: { x: [1, 9, 9, 1] }, output: [null, null, 50, 0] },
  ],
});
