import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "filter",
  axis: "elementwise",
  parameters: [
    { name: "x", kind: "series" },
    { name: "c", kind: "condition" },
  ],
  result: "series",
  unit: "same",
  summary: "The value where the condition holds, otherwise null.",
  nulls: "Null if the value is null and where the condition is null or does not hold.",
  source: "FILTER(A, condition) of Guotai Junan Securities (2017), 191 short-period price-volume factors",
  laws: ["filter(x, 1) = x", "filter(filter(x, c), c) = filter(x, c)"],
  costNs: () => 1,
  nullWhere: { condition_not_met: (_x, c) => c === 0 },
  reference: (x, c) => (c !== 0 ? x : Number.NaN),
  lower: (on, x, c) => on.keep(on.holds(c), x),
  examples: [
    {
      formula: "filter(x, y > 0)",
      inputs: { x: [1, 2, 3, null], y: [5, -5, null, 5] },
      output: [1, null, null, null],
    },
    { formula: "filter(x, x < 3)", inputs: { x: [-Infinity, 2, 3] }, output: [-Infinity, 2, null] },
  ],
});
