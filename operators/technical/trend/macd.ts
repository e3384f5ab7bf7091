import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "macd",
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "fast", kind: "window", default: 12 },
    { name: "slow", kind: "window", default: 26 },
  ],
  result: "series",
  unit: "same",
  summary: "Moving average convergence divergence: the fast minus the slow exponential moving average.",
  nulls: "Null until the first value; at a null the averages are carried over.",
  source:
    "Appel (2005), Technical Analysis: Power Tools for Active Investors; TA-Lib MACD except for the seeds",
  formula: "ema(x, fast) - ema(x, slow)",
  examples: [
    {
      formula: "macd(x, 3, 7)",
      inputs: { x: [null, 10, 12, 11, null, 15] },
      output: [null, 0, 0.5, 0.375, 0.375, 1.28125],
    },
    {
      formula: "macd(x)",
      inputs: { x: [20, 21, 23, 22] },
      output: [0, 0.07977207977208067, 0.3009066484849967, 0.39095901259357646],
    },
  ],
});
