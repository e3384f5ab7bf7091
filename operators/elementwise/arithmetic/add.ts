import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "add",
  symbol: "+",
  axis: "elementwise",
  parameters: [
    { name: "x", kind: "series" },
    { name: "y", kind: "series" },
  ],
  result: "series",
  unit: "same",
  summary: "Sum of two values, rounded once.",
  nulls: "Null if either value is null.",
  source: "IEEE 754 addition",
  laws: ["commutative", "x + -y = x - y", "x + -0 = x"],
  costNs: () => 1,
  nullWhere: { infinite_input: (x, y) => Number.isNaN(x + y) },
  reference: (x, y) => x + y,
  lower: (on, x, y) => on.add(x, y),
  examples: [{ formula: "x + y", inputs: { x: [1, 2, null], y: [0.5, null, 3] }, output: [1.5, null, null] }],
});
