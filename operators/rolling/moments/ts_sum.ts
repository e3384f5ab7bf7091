import { exactSum } from "../../../src/exact/sums.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { hasBothInfinities } from "../../../src/operator/null_rules.ts";
import { sum } from "../../../src/rolling/sums.ts";

export const operator = defineOperator({
  name: "ts_sum",
  aliases: { native: ["sum"], qlib: ["sum"], gtja191: ["sum"] },
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "same",
  summary: "Sum over the last d rows: the exact value rounded once.",
  nulls: "Null until d rows exist and while any value in the window is null; min_periods=m skips nulls.",
  source: "pandas Series.rolling(d).sum(); sum(x, d) of Kakushadze (2015), arXiv:1601.00991",
  laws: ["ts_sum(x, 1) = x + 0"],
  allowsMinPeriods: true,
  costNs: (rows) => 40 + 8 * rows,
  windowRows: ({ d }) => d,
  nullWhere: { infinite_input: hasBothInfinities },
  reference: ([x]) => exactSum(x),
  lower: (on, [x], { d }, minPeriods) => sum(on, x, d, minPeriods),
  examples: [
    {
      formula: "ts_sum(x, 3)",
      inputs: { x: [1, 2, 4, null, 5, 6, 7] },
      output: [null, null, 7, null, null, null, 18],
    },
    // What has left the window leaves no trace.
    {
      formula: "ts_sum(x, 2)",
      inputs: { x: [1e17, 1, 2, Infinity, 4, 5] },
      output: [null, 1e17, 3, Infinity, Infinity, 9],
    },
    { formula: "ts_sum(x, 3, min_periods=1)", inputs: { x: [null, 1, null, 2] }, output: [null, 1, 1, 3] },
  ],
});
