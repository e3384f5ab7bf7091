import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "is_infinite",
  aliases: { qlib: ["isinf"] },
  axis: "elementwise",
  parameters: [{ name: "x", kind: "series" }],
  result: "condition",
  unit: "none",
  summary: "1 where the value is infinite, of either sign, otherwise 0.",
  nulls: "Never null: a null is not infinite.",
  source: "numpy.isinf; IsInf of qlib.contrib.ops.high_freq",
  seesNulls: true,
  costNs: () => 1,
  nullWhere: {},
  reference: (x) => (Math.abs(x) === Number.POSITIVE_INFINITY ? 1 : 0),
  lower: (on, x) => on.condition(on.eq(on.abs(x), on.number(Number.POSITIVE_INFINITY))),
  examples: [
    { formula: "is_infinite(x)", inputs: { x: [1, null, Infinity, -Infinity] }, output: [0, 0, 1, 1] },
    { formula: "is_infinite(1 / x)", inputs: { x: [4, 0, null] }, output: [0, 1, 0] },
  ],
});
