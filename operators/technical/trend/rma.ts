import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "rma",
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "n", kind: "window" },
  ],
  result: "series",
  unit: "same",
  summary:
    "Wilder's moving average: y + (x - y) / n for the value x and the last result y, computed as (x + (n - " +
    "1) * y) / n and seeded by the first value.",
  nulls: "Null until the first value; at a null the last result is carried over.",
  source: "Wilder (1978), New Concepts in Technical Trading Systems; TA-Lib seeds it with a mean instead",
  formula: "sma_cn(x, n, 1)",
  examples: [
    {
      formula: "rma(x, 3)",
      inputs: { x: [null, 3, 6, null, 0] },
      output: [null, 3, 4, 4, 2.6666666666666665],
    },
  ],
});
