import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "or",
  symbol: "||",
  axis: "elementwise",
  parameters: [
    { name: "x", kind: "condition" },
    { name: "y", kind: "condition" },
  ],
  result: "condition",
  unit: "none",
  summary: "1 where either condition holds, 0 where neither does.",
  nulls: "True or null is 1; otherwise null if either condition is null.",
  source: "three-valued logic of Kleene (1938) and SQL",
  laws: ["commutative", "c || c = c", "c || 0 = c", "c || 1 = 1", "!c || !d = !(c && d)"],
  seesNulls: true,
  costNs: () => 2,
  nullWhere: {},
  reference: (x, y) => {
    // A null compares unequal to 0, so it must be distinguished from a true condition.
    if ((x !== 0 && !Number.isNaN(x)) || (y !== 0 && !Number.isNaN(y))) return 1;
    return Number.isNaN(x) || Number.isNaN(y) ? Number.NaN : 0;
  },
  lower: (on, x, y) => {
    const isTrue = on.or(on.holds(x), on.holds(y));
    return on.select(isTrue, on.number(1), on.condition(isTrue, x, y));
  },
  examples: [
    {
      formula: "x > 0 || y > 0",
      inputs: { x: [1, 1, 1, -1, -1, null], y: [1, -1, null, -1, null, null] },
      output: [1, 1, 1, 0, null, null],
    },
  ],
});
