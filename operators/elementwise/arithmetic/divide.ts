import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "divide",
  symbol: "/",
  aliases: { qlib: ["div"] },
  axis: "elementwise",
  parameters: [
    { name: "x", kind: "series" },
    { name: "y", kind: "series" },
  ],
  result: "series",
  unit: "other",
  summary: "Quotient of two values, rounded once; a nonzero value divided by zero is infinite.",
  nulls: "Null if either value is null, for 0 / 0, and for infinity divided by infinity.",
  source: "IEEE 754 division",
  laws: [
    "x / 1 = x",
    "x / -1 = -x",
    "-x / -y = x / y",
    "-x / c = x / -c for numbers c",
    "x / c = x * (1 / c) for powers of two c",
  ],
  costNs: () => 2,
  nullWhere: {
    infinite_input: (x, y) => Math.abs(x) === Infinity && Math.abs(y) === Infinity,
    division_by_zero: (_x, y) => y === 0,
  },
  reference: (x, y) => x / y,
  lower: (on, x, y) => on.div(x, y),
  examples: [
    { formula: "x / y", inputs: { x: [6, 1, null], y: [4, 3, 2] }, output: [1.5, 0.3333333333333333, null] },
    { formula: "x / y", inputs: { x: [1, -1, 0], y: [0, 0, 0] }, output: [Infinity, -Infinity, null] },
  ],
});
