import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "not",
  symbol: "!",
  axis: "elementwise",
  parameters: [{ name: "x", kind: "condition" }],
  result: "condition",
  unit: "none",
  summary: "1 where the condition does not hold, 0 where it does.",
  nulls: "Null if the condition is null.",
  source: "three-valued logic of Kleene (1938) and SQL",
  laws: [
    "!(!c) = c",
    "!(x < y) = x >= y",
    "!(x <= y) = x > y",
    "!(x > y) = x <= y",
    "!(x >= y) = x < y",
    "!(x == y) = x != y",
    "!(x != y) = x == y",
  ],
  costNs: () => 1,
  nullWhere: {},
  reference: (x) => (x === 0 ? 1 : 0),
  lower: (on, x) => on.condition(on.eq(x, on.number(0)), x),
  examples: [{ formula: "!(x > 1)", inputs: { x: [2, 1, null] }, output: [0, 1, null] }],
});
