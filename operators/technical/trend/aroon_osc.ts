import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "aroon_osc",
  axis: "rewrite",
  parameters: [
    { name: "high", kind: "series" },
    { name: "low", kind: "series" },
    { name: "n", kind: "window", default: 25 },
  ],
  result: "series",
  unit: "none",
  summary: "Aroon oscillator: aroon_up minus aroon_down.",
  nulls: "Null until n + 1 rows exist and while any value among them is null.",
  source:
    "Chande (1995), The Time Price Oscillator, Technical Analysis of Stocks and Commodities 13(9); TA-Lib " +
    "AROONOSC, which takes the latest of equal extremes",
  formula: "aroon_up(high, n) - aroon_down(low, n)",
  examples: [
    {
      formula: "aroon_osc(high, low, 3)",
      inputs: { high: [3, 5, 4, 4, 2, 6, null], low: [2, 4, 1, 3, 1, 5, 4] },
      output: [null, null, null, -33.33333333333333, -33.33333333333333, 100, null],
    },
  ],
});
