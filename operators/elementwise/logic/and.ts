import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "and",
  symbol: "&&",
  axis: "elementwise",
  parameters: [
    { name: "x", kind: "condition" },
    { name: "y", kind: "condition" },
  ],
  result: "condition",
  unit: "none",
  summary: "1 where both conditions hold, 0 where either does not.",
  nulls: "False and null is 0; otherwise null if either condition is null.",
  source: "three-valued logic of Kleene (1938) and SQL",
  laws: ["commutative", "c && c = c", "c && 1 = c", "c && 0 = 0", "!c && !d = !(c || d)"],
  seesNulls: true,
  costNs: () => 2,
  nullWhere: {},
  reference: (x, y) => {
    if (x === 0 || y === 0) return 0;
    return Number.isNaN(x) || Number.isNaN(y) ? Number.NaN : 1;
  },
  lower: (on, x, y) => {
    const isFalse = on.or(on.eq(x, on.number(0)), on.eq(y, on.number(0)));
    return on.select(isFalse, on.number(0), on.condition(on.not(isFalse), x, y));
  },
  examples: [
    {
      formula: "x > 0 && y > 0",
      inputs: { x: [1, 1, 1, -1, -1, null], y: [1, -1, null, -1, null, null] },
      output: [1, 0, null, 0, 0, null],
    },
  ],
});
