import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "is_null",
  aliases: { native: ["is_nan"], qlib: ["isnull"] },
  axis: "elementwise",
  parameters: [{ name: "x", kind: "series" }],
  result: "condition",
  unit: "none",
  summary: "1 where the value is null, otherwise 0.",
  nulls: "Never null.",
  source:
    "pandas Series.isna(); is_nan(x) of the WorldQuant BRAIN operators; IsNull of qlib.contrib.ops.high_freq",
  seesNulls: true,
  costNs: () => 1,
  nullWhere: {},
  reference: (x) => (Number.isNaN(x) ? 1 : 0),
  lower: (on, x) => on.condition(on.isNull(x)),
  examples: [
    { formula: "is_null(x)", inputs: { x: [1, null, Infinity] }, output: [0, 1, 0] },
    { formula: "is_null(x / y)", inputs: { x: [1, 0, null], y: [0, 0, 1] }, output: [0, 1, 1] },
  ],
});
