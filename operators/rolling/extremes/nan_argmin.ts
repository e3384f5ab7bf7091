import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "nan_argmin",
  aliases: { qlib: ["idxmin"] },
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "none",
  summary:
    "Position of the smallest value of the last d rows, 1 for the oldest row and d for today, where a null is smaller " +
    "than any value; the oldest of ties.",
  nulls: "Null until d rows exist and where no row of the window has a value.",
  source: "IdxMin of qlib.data.ops: numpy.argmin + 1, in which the first NaN wins",
  formula: "filter(ts_argmin(coalesce(x, -1 / 0), d), !is_null(ts_min(x, d, min_periods=1)))",
  examples: [
    {
      formula: "nan_argmin(x, 3)",
      inputs: { x: [4, 7, null, 5, 9, 6, 6] },
      output: [null, null, 3, 2, 1, 1, 2],
    },
    {
      formula: "nan_argmin(x, 3)",
      inputs: { x: [null, 4, 7, null, null, null] },
      output: [null, null, 1, 3, 2, null],
    },
  ],
});
