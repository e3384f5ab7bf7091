import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "is_true",
  axis: "elementwise",
  parameters: [{ name: "c", kind: "condition" }],
  result: "condition",
  unit: "none",
  summary: "1 where the condition holds, 0 where it does not or is null.",
  nulls: "Never null: a null condition does not hold.",
  source: "IS TRUE of SQL; comparisons of numpy, in which a null compares as false",
  laws: ["is_true(is_true(c)) = is_true(c)"],
  seesNulls: true,
  costNs: () => 1,
  nullWhere: {},
  reference: (c) => (c !== 0 && !Number.isNaN(c) ? 1 : 0),
  lower: (on, c) => on.condition(on.holds(c)),
  examples: [
    { formula: "is_true(x > 1)", inputs: { x: [2, 1, null] }, output: [1, 0, 0] },
    { formula: "is_true(x > delay(x, 1))", inputs: { x: [1, 2, 1] }, output: [0, 1, 0] },
  ],
});
