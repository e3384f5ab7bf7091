import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "sqrt",
  axis: "elementwise",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "other",
  summary: "Square root, rounded once.",
  nulls: "Null if the value is null or negative.",
  source: "IEEE 754 squareRoot",
  costNs: () => 3,
  nullWhere: { domain: (x) => x < 0 },
  reference: (x) => Math.sqrt(x),
  lower: (on, x) => on.sqrt(x),
  examples: [
    { formula: "sqrt(x)", inputs: { x: [4, 3, null] }, output: [2, 1.7320508075688772, null] },
    { formula: "sqrt(x)", inputs: { x: [0, -1, Infinity] }, output: [0, null, Infinity] },
  ],
});
