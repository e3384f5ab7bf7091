import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "inverse",
  axis: "elementwise",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "other",
  summary: "Reciprocal 1 / x, rounded once; an infinity of the sign of a zero.",
  nulls: "Null if the value is null.",
  source: "inverse(x) of the WorldQuant BRAIN operators; IEEE 754 division",
  laws: ["inverse(x) = 1 / x"],
  costNs: () => 2,
  nullWhere: { division_by_zero: (x) => x === 0 },
  reference: (x) => 1 / x,
  lower: (on, x) => on.div(on.number(1), x),
  examples: [
    {
      formula: "inverse(x)",
      inputs: { x: [4, -0.5, 3, null] },
      output: [0.25, -2, 0.3333333333333333, null],
    },
    { formula: "inverse(x)", inputs: { x: [0, -0, -Infinity] }, output: [Infinity, -Infinity, -0] },
  ],
});
