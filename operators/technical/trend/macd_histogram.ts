import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "macd_histogram",
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "fast", kind: "window", default: 12 },
    { name: "slow", kind: "window", default: 26 },
    { name: "signal", kind: "window", default: 9 },
  ],
  result: "series",
  unit: "same",
  summary: "Distance of macd(x, fast, slow) from its signal line: macd minus macd_signal.",
  nulls:
    "Null until the first value; at a null macd(x, fast, slow) is carried over and the signal line moves " +
    "on towards it.",
  source:
    "Appel (2005), Technical Analysis: Power Tools for Active Investors; TA-Lib MACD except for the seeds",
  formula: "macd(x, fast, slow) - macd_signal(x, fast, slow, signal)",
  examples: [
    {
      formula: "macd_histogram(x, 3, 7, 3)",
      inputs: { x: [null, 10, 12, 11, null, 15] },
      output: [null, 0, 0.25, 0.0625, 0.03125, 0.46875],
    },
    {
      formula: "macd_histogram(x)",
      inputs: { x: [20, 21, 23, 22] },
      output: [0, 0.06381766381766454, 0.22796178602446446, 0.25441132010643536],
    },
  ],
});
