import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "sum_if",
  aliases: { gtja191: ["sumif"] },
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
    { name: "c", kind: "condition" },
  ],
  result: "series",
  unit: "same",
  summary:
    "Sum of the values of those of the last d rows in which the condition holds: the exact value rounded once.",
  nulls:
    "Null until d rows exist, and while the condition is null in any of them or holds where the value is null.",
  source: "SUMIF(A, n, condition) of Guotai Junan Securities (2017), 191 short-period price-volume factors",
  formula: "ts_sum(c ? x : 0, d)",
  examples: [
    {
      formula: "sum_if(x, 3, y > 0)",
      inputs: { x: [1, 2, 4, 8, null, 32, 64, 3], y: [1, -1, 1, 1, -1, 1, null, 1] },
      output: [null, null, 5, 12, 12, 40, null, null],
    },
  ],
});
