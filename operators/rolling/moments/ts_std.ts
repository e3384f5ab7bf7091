import { exactStandardDeviation } from "../../../src/exact/moments.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { hasAnyInfinity, isFewerThan } from "../../../src/operator/null_rules.ts";
import { standardDeviation } from "../../../src/rolling/dispersion.ts";

export const operator = defineOperator({
  name: "ts_std",
  aliases: {
    native: ["stddev", "ts_std_dev"],
    qlib: ["std"],
    gtja191: ["std"],
  },
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "same",
  summary:
    "Sample standard deviation (ddof 1) over the last d rows: the exact value rounded once, 0 for a constant window.",
  nulls:
    "Null until d rows exist, while any value in the window is null or infinite, and for fewer than 2 values; " +
    "min_periods=m skips nulls.",
  source: "pandas Series.rolling(d).std(); stddev(x, d) of Kakushadze (2015), arXiv:1601.00991",
  allowsMinPeriods: true,
  costNs: (rows) => 100 + 30 * rows,
  windowRows: ({ d }) => d,
  nullWhere: { infinite_input: hasAnyInfinity, too_few_values: isFewerThan(2) },
  reference: ([x]) => exactStandardDeviation(x),
  lower: (on, [x], { d }, minPeriods) => standardDeviation(on, x, d, minPeriods),
  examples: [
    {
      formula: "ts_std(x, 3)",
      inputs: { x: [1, 2, 3, 3, 3, null] },
      output: [null, null, 1, 0.5773502691896257, 0, null],
    },
    {
      formula: "ts_std(x, 2)",
      inputs: { x: [1e15, 1, 7, Infinity, 3] },
      output: [null, 707106781186546.9, 4.242640687119285, null, null],
    },
    {
      formula: "ts_std(x, 2, min_periods=1)",
      inputs: { x: [4, null, 7, 13] },
      output: [null, null, null, 4.242640687119285],
    },
  ],
});
