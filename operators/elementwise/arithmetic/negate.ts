import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "negate",
  symbol: "-",
  aliases: { native: ["reverse"] },
  axis: "elementwise",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "same",
  summary: "The value with the opposite sign.",
  nulls: "Null if the value is null.",
  source: "IEEE 754 negate",
  laws: ["-(-x) = x"],
  costNs: () => 1,
  nullWhere: {},
  reference: (x) => -x,
  lower: (on, x) => on.neg(x),
  examples: [{ formula: "-x", inputs: { x: [1, -2.5, null, Infinity] }, output: [-1, 2.5, null, -Infinity] }],
});
