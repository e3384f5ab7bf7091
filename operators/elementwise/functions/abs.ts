import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "abs",
  axis: "elementwise",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "same",
  summary: "Absolute value.",
  nulls: "Null if the value is null.",
  source: "IEEE 754 abs; abs(x) of Kakushadze (2015), arXiv:1601.00991",
  laws: ["abs(-x) = abs(x)", "abs(abs(x)) = abs(x)", "abs(x * x) = x * x"],
  costNs: () => 1,
  nullWhere: {},
  reference: (x) => Math.abs(x),
  lower: (on, x) => on.abs(x),
  examples: [
    { formula: "abs(x)", inputs: { x: [1.5, -2, 0, null, -Infinity] }, output: [1.5, 2, 0, null, Infinity] },
  ],
});
