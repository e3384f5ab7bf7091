import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "less_equal",
  symbol: "<=",
  aliases: { qlib: ["le"] },
  axis: "elementwise",
  parameters: [
    { name: "x", kind: "series" },
    { name: "y", kind: "series" },
  ],
  result: "condition",
  unit: "none",
  summary: "1 where x is at most y, otherwise 0; -0 equals 0.",
  nulls: "Null if either value is null.",
  source: "IEEE 754 comparison; null rule of SQL",
  costNs: () => 1,
  nullWhere: {},
  reference: (x, y) => (x <= y ? 1 : 0),
  lower: (on, x, y) => on.condition(on.le(x, y), x, y),
  examples: [
    { formula: "x <= y", inputs: { x: [1, 2, 3, null], y: [2, 2, 2, 2] }, output: [1, 1, 0, null] },
    { formula: "x <= y", inputs: { x: [0, Infinity], y: [-0, Infinity] }, output: [1, 1] },
  ],
});
