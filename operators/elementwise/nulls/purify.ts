import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "purify",
  axis: "elementwise",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "same",
  summary: "The value, with infinities turned into nulls.",
  nulls: "Null if the value is null or infinite.",
  source: "purify(x) of the WorldQuant BRAIN operators: clears infinities by replacing them with NaN",
  laws: ["purify(purify(x)) = purify(x)"],
  costNs: () => 1,
  nullWhere: { infinite_input: (x) => !Number.isFinite(x) },
  reference: (x) => (Number.isFinite(x) ? x : Number.NaN),
  lower: (on, x) => on.keep(on.lt(on.abs(x), on.number(Number.POSITIVE_INFINITY)), x),
  examples: [
    { formula: "purify(x)", inputs: { x: [1, null, Infinity, -Infinity] }, output: [1, null, null, null] },
    { formula: "purify(1 / x)", inputs: { x: [4, 0] }, output: [0.25, null] },
  ],
});
