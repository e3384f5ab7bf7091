import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "macd_signal",
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "fast", kind: "window", default: 12 },
    { name: "slow", kind: "window", default: 26 },
    { name: "signal", kind: "window", default: 9 },
  ],
  result: "series",
  unit: "same",
  summary: "Exponential moving average of macd(x, fast, slow).",
  nulls:
    "Null until the first value; at a null macd(x, fast, slow) is carried over and the signal line moves " +
    "on towards it.",
  source:
    "Appel (2005), Technical Analysis: Power Tools for Active Investors; TA-Lib MACD except for the seeds",
  formula: "ema(macd(x, fast, slow), signal)",
  examples: [
    {
      formula: "macd_signal(x, 3, 7, 3)",
      inputs: { x: [null, 10, 12, 11, null, 15] },
      output: [null, 0, 0.25, 0.3125, 0.34375, 0.8125],
    },
    {
      formula: "macd_signal(x)",
      inputs: { x: [20, 21, 23, 22] },
      output: [0, 0.015954415954416136, 0.07294486246053225, 0.1365476924871411],
    },
  ],
});
