import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "ts_count_values",
  aliases: { qlib: ["count"] },
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "none",
  summary: "Number of values among the last d rows that are not null.",
  nulls: "Null until d rows exist.",
  source: "Count of qlib.data.ops; pandas Series.rolling(d).count()",
  formula: "ts_count(!is_null(x), d)",
  examples: [
    {
      formula: "ts_count_values(x, 2)",
      inputs: { x: [1, null, null, Infinity, 5] },
      output: [null, 1, 0, 1, 2],
    },
  ],
});
