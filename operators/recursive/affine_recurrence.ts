import { defineOperator } from "../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "affine_recurrence",
  axis: "recursive",
  parameters: [
    { name: "p", kind: "series" },
    { name: "q", kind: "series" },
    { name: "c", kind: "series" },
  ],
  result: "series",
  summary: "Result p * y + q of the last result y, which is 1 before the first row; where c is 0, q alone.",
  nulls: "Never null: where an argument or the result is null the last result is carried over.",
  source: "SELF of alpha 143 of Guotai Junan Securities (2017), 191 short-period price-volume alphas",
  costNs: () => 15,
  reference: ([p, q, c], _settings, output) => {
    let y = 1;
    (p as Float64Array).forEach((factor, row) => {
      const addend = (q as Float64Array)[row] as number;
      const recalls = (c as Float64Array)[row] as number;
      // Not 0 * y: an infinite y must not outlive a row that does not look back.
      const next = recalls === 0 ? addend : factor * y + addend;
      if (!Number.isNaN(next) && !Number.isNaN(recalls) && !Number.isNaN(factor)) y = next;
      output[row] = y;
    });
  },
  examples: [
    {
      formula: "affine_recurrence(x, y, 1)",
      inputs: { x: [null, 2, 3, 0.5, 1], y: [1, 0, 1, null, -7] },
      output: [1, 2, 7, 7, 0],
    },
    {
      formula: "affine_recurrence(x > delay(x, 1) ? x / delay(x, 1) - 1 : 1, 0, 1)",
      inputs: { x: [4, 5, 4, 6, null] },
      output: [1, 0.25, 0.25, 0.125, 0.125],
    },
    {
      formula: "affine_recurrence(x, 3, x)",
      inputs: { x: [Infinity, 0, 2] },
      output: [Infinity, 3, 9],
    },
  ],
});
