import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "coalesce",
  aliases: { native: ["fill_null"] },
  axis: "elementwise",
  parameters: [
    { name: "x", kind: "series" },
    { name: "y", kind: "series" },
  ],
  result: "series",
  unit: "same",
  summary: "The value of x, or of y where x is null.",
  nulls: "Null where both values are null.",
  source: "COALESCE of SQL; pandas Series.fillna(other)",
  laws: ["coalesce(x, x) = x", "coalesce(x, null) = x", "coalesce(null, x) = x"],
  seesNulls: true,
  costNs: () => 1,
  nullWhere: {},
  reference: (x, y) => (Number.isNaN(x) ? y : x),
  lower: (on, x, y) => on.select(on.isNull(x), y, x),
  examples: [
    { formula: "coalesce(x, y)", inputs: { x: [1, null, null], y: [2, 3, null] }, output: [1, 3, null] },
    { formula: "coalesce(x, 0)", inputs: { x: [-Infinity, null, 5] }, output: [-Infinity, 0, 5] },
  ],
});
