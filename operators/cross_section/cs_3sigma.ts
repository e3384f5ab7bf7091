import { defineOperator } from "../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "cs_3sigma",
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "n", kind: "constant", default: 3 },
  ],
  result: "series",
  unit: "same",
  summary:
    "Value limited to the mean of the row plus and minus n sample standard deviations (ddof 1): winsorize with " +
    "another default.",
  nulls:
    "Nulls stay null and do not count; the whole row is null for fewer than 2 values, where one is " +
    "infinite, and for a negative n.",
  source: "cs_3sigma(x, n) of polars_ta, which divides by n instead of n - 1",
  formula: "winsorize(x, n)",
  examples: [
    {
      formula: "cs_3sigma(x, 1)",
      inputs: { x: [2, 3, 4, null, 5, 100] },
      output: [2, 3, 4, null, 5, 65.97059184213254],
    },
    { formula: "cs_3sigma(x)", inputs: { x: [1, null, 2, 3] }, output: [1, null, 2, 3] },
  ],
});
