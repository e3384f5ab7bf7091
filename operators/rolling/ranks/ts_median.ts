import { exactMedian } from "../../../src/exact/quantile.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { quantile } from "../../../src/rolling/ranks.ts";

export const operator = defineOperator({
  name: "ts_median",
  aliases: { qlib: ["med"] },
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "same",
  summary:
    "Median of the last d rows, of an even number of values the exact mean of the middle two rounded once.",
  nulls: "Null until d rows exist and while any value in the window is null; min_periods=m skips nulls.",
  source: "pandas Series.rolling(d).median()",
  laws: ["ts_median(x, 1) = x + 0"],
  allowsMinPeriods: true,
  costNs: (rows) => 150 + 30 * rows,
  codeNs: (rows) => 7 + 0.28 * rows,
  windowRows: ({ d }) => d,
  nullWhere: { infinite_input: ([x]) => Number.isNaN(exactMedian(x.slice())) },
  reference: ([x]) => exactMedian(x),
  lower: (on, [x], { d }, minPeriods) => quantile(on, x, d, 0.5, minPeriods),
  examples: [
    {
      formula: "ts_median(x, 3)",
      inputs: { x: [5, 1, 3, 9, null, 2] },
      output: [null, null, 3, 3, null, null],
    },
    {
      formula: "ts_median(x, 4)",
      inputs: { x: [1, -Infinity, 4, 2, Infinity] },
      output: [null, null, null, 1.5, 3],
    },
    {
      formula: "ts_median(x, 3, min_periods=1)",
      inputs: { x: [null, 4, 1, null, 8] },
      output: [null, 4, 2.5, 2.5, 4.5],
    },
  ],
});
