import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "multiply",
  symbol: "*",
  aliases: { qlib: ["mul"] },
  axis: "elementwise",
  parameters: [
    { name: "x", kind: "series" },
    { name: "y", kind: "series" },
  ],
  result: "series",
  unit: "other",
  summary: "Product of two values, rounded once.",
  nulls: "Null if either value is null, and for zero times infinity.",
  source: "IEEE 754 multiplication",
  laws: [
    "commutative",
    "x * 1 = x",
    "x * -1 = -x",
    "-x * -y = x * y",
    "-x * c = x * -c for numbers c",
    "abs(x) * abs(x) = x * x",
  ],
  costNs: () => 1,
  nullWhere: { infinite_input: (x, y) => Number.isNaN(x * y) },
  reference: (x, y) => x * y,
  lower: (on, x, y) => on.mul(x, y),
  examples: [
    {
      formula: "x * y",
      inputs: { x: [2, 0.1, null], y: [1.5, 3, 2] },
      output: [3, 0.30000000000000004, null],
    },
    { formula: "x * y", inputs: { x: [Infinity, Infinity], y: [-2, 0] }, output: [-Infinity, null] },
  ],
});
