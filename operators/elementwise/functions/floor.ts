import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "floor",
  axis: "elementwise",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "same",
  summary: "Largest whole number that is not above x.",
  nulls: "Null if the value is null.",
  source: "IEEE 754 roundToIntegralTowardNegative; floor(x) of the WorldQuant BRAIN operators",
  laws: ["floor(floor(x)) = floor(x)", "floor(ceil(x)) = ceil(x)", "floor(round(x)) = round(x)"],
  costNs: () => 1,
  nullWhere: {},
  reference: (x) => Math.floor(x),
  lower: (on, x) => on.floor(x),
  examples: [
    {
      formula: "floor(x)",
      inputs: { x: [2.7, -2.1, 3, null, -Infinity] },
      output: [2, -3, 3, null, -Infinity],
    },
    { formula: "floor(x)", inputs: { x: [0.9999999999999999, -1e-300] }, output: [0, -1] },
  ],
});
