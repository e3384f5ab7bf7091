import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "rsi",
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "n", kind: "window", default: 14 },
  ],
  result: "series",
  unit: "none",
  summary:
    "Relative strength index: Wilder's average of the gains in percent of that of all changes, 0 to 100.",
  nulls:
    "Null until the first change and while there was no change but 0; at a null change the averages are " +
    "carried over.",
  source: "Wilder (1978), New Concepts in Technical Trading Systems; TA-Lib RSI except for the seed",
  formula: "100 * (rma(max(delta(x, 1), 0), n) / rma(abs(delta(x, 1)), n))",
  examples: [
    {
      formula: "rsi(x, 3)",
      inputs: { x: [10, 11, 13, 12, null, 12, 15] },
      output: [null, 100, 100, 72.72727272727273, 72.72727272727273, 72.72727272727273, 87.75510204081633],
    },
    { formula: "rsi(x)", inputs: { x: [5, 5, 6, 7, null] }, output: [null, null, 100, 100, 100] },
  ],
});
