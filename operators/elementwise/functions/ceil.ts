import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "ceil",
  aliases: { native: ["ceiling"] },
  axis: "elementwise",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "same",
  summary: "Smallest whole number that is not below x.",
  nulls: "Null if the value is null.",
  source: "IEEE 754 roundToIntegralTowardPositive; ceiling(x) of the WorldQuant BRAIN operators",
  laws: ["ceil(ceil(x)) = ceil(x)", "ceil(floor(x)) = floor(x)", "ceil(round(x)) = round(x)"],
  costNs: () => 1,
  nullWhere: {},
  reference: (x) => Math.ceil(x),
  lower: (on, x) => on.ceil(x),
  examples: [
    { formula: "ceil(x)", inputs: { x: [2.1, -2.7, 3, null, Infinity] }, output: [3, -2, 3, null, Infinity] },
    { formula: "ceil(x)", inputs: { x: [1e-300, -0.5] }, output: [1, -0] },
  ],
});
