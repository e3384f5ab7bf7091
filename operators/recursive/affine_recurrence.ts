import { defineOperator } from "../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "affine_recurrence",
  axis: "recursive",
  parameters: [
    { name: "p", kind: "series" },
    { name: "q", kind: "series" },
  ],
  result: "series",
  summary: "Result p * y + q of the last result y, which is 1 before the first row.",
  nulls: "Never null: where p * y + q is null the last result is carried over.",
  source: "SELF of alpha 143 of Guotai Junan Securities (2017), 191 short-period price-volume alphas",
  costNs: () => 15,
  reference: ([p, q], _settings, output) => {
    let y = 1;
    (p as Float64Array).forEach((factor, row) => {
      const next = factor * y + ((q as Float64Array)[row] as number);
      if (!Number.isNaN(next)) y = next;
      output[row] = y;
    });
  },
  examples: [
    {
      formula: "affine_recurrence(x, y)",
      inputs: { x: [null, 2, 3, 0.5, 1], y: [1, 0, 1, null, -7] },
      output: [1, 2, 7, 7, 0],
    },
    {
      formula: "affine_recurrence(x > delay(x, 1) ? x / delay(x, 1) - 1 : 1, 0)",
      inputs: { x: [4, 5, 4, 6, null] },
      output: [1, 0.25, 0.25, 0.125, 0.125],
    },
    {
      formula: "affine_recurrence(x, 0)",
      inputs: { x: [Infinity, 0, 2] },
      output: [Infinity, Infinity, Infinity],
    },
  ],
});
