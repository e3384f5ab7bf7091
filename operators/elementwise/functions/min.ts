import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "min",
  aliases: { qlib: ["less"] },
  axis: "elementwise",
  parameters: [
    { name: "x", kind: "series" },
    { name: "y", kind: "series" },
  ],
  result: "series",
  unit: "same",
  summary: "Smaller of two values, cell by cell; 0 counts as above -0.",
  nulls: "Null if either value is null.",
  source: "numpy.minimum; ECMAScript Math.min; min(x, y) of Kakushadze (2015), arXiv:1601.00991",
  laws: ["commutative", "min(x, x) = x", "min(min(x, y), y) = min(x, y)", "min(-x, -y) = -max(x, y)"],
  costNs: () => 2,
  nullWhere: {},
  reference: (x, y) => Math.min(x, y),
  lower: (on, x, y) => on.min(x, y),
  examples: [
    { formula: "min(x, y)", inputs: { x: [1, 5, null, 3], y: [2, 4, 6, null] }, output: [1, 4, null, null] },
    { formula: "min(x, y)", inputs: { x: [-Infinity, Infinity], y: [-7, 3] }, output: [-Infinity, 3] },
  ],
});
