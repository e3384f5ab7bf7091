import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "max",
  aliases: { qlib: ["greater"] },
  axis: "elementwise",
  parameters: [
    { name: "x", kind: "series" },
    { name: "y", kind: "series" },
  ],
  result: "series",
  unit: "same",
  summary: "Larger of two values, cell by cell; 0 counts as above -0.",
  nulls: "Null if either value is null.",
  source: "numpy.maximum; ECMAScript Math.max; max(x, y) of Kakushadze (2015), arXiv:1601.00991",
  laws: ["commutative", "max(x, x) = x", "max(max(x, y), y) = max(x, y)", "max(-x, -y) = -min(x, y)"],
  costNs: () => 2,
  nullWhere: {},
  reference: (x, y) => Math.max(x, y),
  lower: (on, x, y) => on.max(x, y),
  examples: [
    { formula: "max(x, y)", inputs: { x: [1, 5, null, 3], y: [2, 4, 6, null] }, output: [2, 5, null, null] },
    { formula: "max(x, y)", inputs: { x: [-Infinity, -0], y: [-7, 0] }, output: [-7, 0] },
  ],
});
