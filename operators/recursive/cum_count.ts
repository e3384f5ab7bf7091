import { defineOperator } from "../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "cum_count",
  axis: "recursive",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "none",
  summary: "Number of values so far.",
  nulls: "Never null: 0 until the first value; nulls do not count, infinities do.",
  source: "pandas Series.expanding().count()",
  costNs: () => 8,
  reference: ([x], _settings, output) => {
    let count = 0;
    (x as Float64Array).forEach((value, row) => {
      if (!Number.isNaN(value)) count++;
      output[row] = count;
    });
  },
  examples: [
    { formula: "cum_count(x)", inputs: { x: [null, 5, null, Infinity, 0] }, output: [0, 1, 1, 2, 3] },
    {
      formula: "cum_count(x) > 2 ? x : null",
      inputs: { x: [4, 5, null, 6, 7] },
      output: [null, null, null, 6, 7],
    },
  ],
});
