import { defineOperator } from "../../src/operator/definition.ts";
import { recur } from "./ema.ts";

export const operator = defineOperator({
  name: "cum_max",
  axis: "recursive",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "same",
  summary: "Largest of all values so far; 0 counts as above -0.",
  nulls: "Null until the first value; at a null the last result is carried over.",
  source: "numpy.maximum.accumulate",
  costNs: () => 8,
  reference: ([x], _settings, output) => recur(x as Float64Array, output, (y, value) => Math.max(y, value)),
  examples: [
    { formula: "cum_max(x)", inputs: { x: [null, 3, 2, null, 5] }, output: [null, 3, 3, 3, 5] },
    {
      formula: "cum_max(x)",
      inputs: { x: [-Infinity, 2, Infinity, 7] },
      output: [-Infinity, 2, Infinity, Infinity],
    },
  ],
});
