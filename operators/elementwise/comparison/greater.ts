import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "greater",
  symbol: ">",
  aliases: { qlib: ["gt"] },
  axis: "elementwise",
  parameters: [
    { name: "x", kind: "series" },
    { name: "y", kind: "series" },
  ],
  result: "condition",
  unit: "none",
  summary: "1 where x is greater than y, otherwise 0; -0 equals 0.",
  nulls: "Null if either value is null.",
  source: "IEEE 754 comparison; null rule of SQL",
  costNs: () => 1,
  nullWhere: {},
  reference: (x, y) => (x > y ? 1 : 0),
  lower: (on, x, y) => on.condition(on.gt(x, y), x, y),
  examples: [
    { formula: "x > y", inputs: { x: [1, 2, 3, null], y: [2, 2, 2, 2] }, output: [0, 0, 1, null] },
    { formula: "x > y", inputs: { x: [0, Infinity], y: [-0, 1e308] }, output: [0, 1] },
  ],
});
