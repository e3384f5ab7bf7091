import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "is_finite",
  axis: "elementwise",
  parameters: [{ name: "x", kind: "series" }],
  result: "condition",
  unit: "none",
  summary: "1 where the value is neither null nor infinite, otherwise 0.",
  nulls: "Never null.",
  source: "numpy.isfinite; is_finite(x) of the WorldQuant BRAIN operators",
  seesNulls: true,
  costNs: () => 1,
  nullWhere: {},
  reference: (x) => (Number.isFinite(x) ? 1 : 0),
  lower: (on, x) => on.condition(on.lt(on.abs(x), on.number(Number.POSITIVE_INFINITY))),
  examples: [
    { formula: "is_finite(x)", inputs: { x: [1, null, Infinity, -Infinity] }, output: [1, 0, 0, 0] },
    { formula: "is_finite(1 / x)", inputs: { x: [4, 0, null] }, output: [1, 0, 0] },
  ],
});
