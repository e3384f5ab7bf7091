import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "subtract",
  symbol: "-",
  aliases: { qlib: ["sub"] },
  axis: "elementwise",
  parameters: [
    { name: "x", kind: "series" },
    { name: "y", kind: "series" },
  ],
  result: "series",
  unit: "same",
  summary: "Difference of two values, rounded once.",
  nulls: "Null if either value is null, and for the difference of two equal infinities.",
  source: "IEEE 754 subtraction",
  laws: ["x - -y = x + y", "x - 0 = x", "-0 - x = -x"],
  costNs: () => 1,
  nullWhere: { infinite_input: (x, y) => Number.isNaN(x - y) },
  reference: (x, y) => x - y,
  lower: (on, x, y) => on.sub(x, y),
  examples: [
    {
      formula: "x - y",
      inputs: { x: [3, 0.3, null], y: [1, 0.1, 2] },
      output: [2, 0.19999999999999998, null],
    },
    // The difference of equal infinities has no value.
    { formula: "x - y", inputs: { x: [Infinity, Infinity], y: [5, Infinity] }, output: [Infinity, null] },
  ],
});
