import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "not_equal",
  symbol: "!=",
  aliases: { qlib: ["ne"] },
  axis: "elementwise",
  parameters: [
    { name: "x", kind: "series" },
    { name: "y", kind: "series" },
  ],
  result: "condition",
  unit: "none",
  summary: "1 where x differs from y, otherwise 0; -0 equals 0.",
  nulls: "Null if either value is null.",
  source: "IEEE 754 comparison; null rule of SQL",
  laws: ["commutative"],
  costNs: () => 1,
  nullWhere: {},
  reference: (x, y) => (x !== y ? 1 : 0),
  lower: (on, x, y) => on.condition(on.ne(x, y), x, y),
  examples: [
    { formula: "x != y", inputs: { x: [1, 2, null, null], y: [2, 2, 2, null] }, output: [1, 0, null, null] },
    {
      formula: "x != y",
      inputs: { x: [0, Infinity, Infinity], y: [-0, Infinity, -Infinity] },
      output: [0, 0, 1],
    },
  ],
});
