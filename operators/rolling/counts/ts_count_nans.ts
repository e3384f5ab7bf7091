import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "ts_count_nans",
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "none",
  summary: "Number of nulls among the last d rows.",
  nulls: "Null until d rows exist.",
  source: "ts_count_nans(x, d) of the WorldQuant BRAIN operators",
  formula: "ts_count(is_null(x), d)",
  examples: [
    {
      formula: "ts_count_nans(x, 2)",
      inputs: { x: [1, null, null, Infinity, 5] },
      output: [null, 1, 2, 1, 0],
    },
  ],
});
