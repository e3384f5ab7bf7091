import { defineOperator } from "../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "limit_change",
  axis: "recursive",
  parameters: [
    { name: "x", kind: "series" },
    { name: "limit", kind: "series" },
  ],
  result: "series",
  unit: "same",
  summary:
    "The last result, moved by limit towards x where x is at least that far away; seeded by the first " +
    "value of x.",
  nulls: "Null until the first value; where x or limit is null the last result is carried over.",
  source: "the recursion of hump(x, hump) of the WorldQuant BRAIN operators, with the limit as an argument",
  costNs: () => 12,
  reference: ([x, limit], _settings, output) => {
    let y = Number.NaN;
    (x as Float64Array).forEach((value, row) => {
      const step = (limit as Float64Array)[row] as number;
      const change = value - y;
      if (Number.isNaN(y) && !Number.isNaN(step)) y = value;
      else if (Math.abs(change) >= step) y += Math.sign(change) * step;
      output[row] = y;
    });
  },
  examples: [
    { formula: "limit_change(x, 1.5)", inputs: { x: [5, 2, null, 3, 9] }, output: [5, 3.5, 3.5, 3.5, 5] },
    {
      formula: "limit_change(x, y)",
      inputs: { x: [null, 1, 2, 2, 2], y: [1, 1, null, 2, 1] },
      output: [null, 1, 1, 1, 2],
    },
  ],
});
