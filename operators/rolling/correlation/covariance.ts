import { exactCovariance } from "../../../src/exact/moments.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { hasAnyInfinity, isFewerThan } from "../../../src/operator/null_rules.ts";
import { covariance } from "../../../src/rolling/dispersion.ts";

export const operator = defineOperator({
  name: "covariance",
  aliases: { native: ["ts_covariance"], qlib: ["cov"], gtja191: ["coviance"] },
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "y", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "other",
  summary: "Sample covariance (ddof 1) of x and y over the last d rows: the exact value rounded once.",
  nulls:
    "Null until d rows exist, while any value in either window is null or infinite, and for fewer than 2 rows; " +
    "min_periods=m skips rows with a null.",
  source: "pandas Series.rolling(d).cov(other); covariance(x, y, d) of Kakushadze (2015), arXiv:1601.00991",
  laws: ["commutative"],
  allowsMinPeriods: true,
  costNs: (rows) => 100 + 30 * rows,
  windowRows: ({ d }) => d,
  nullWhere: { infinite_input: hasAnyInfinity, too_few_values: isFewerThan(2) },
  reference: ([x, y]) => exactCovariance(x, y),
  lower: (on, [x, y], { d }, minPeriods) => covariance(on, x, y, d, minPeriods),
  examples: [
    {
      formula: "covariance(x, y, 3)",
      inputs: { x: [1, 2, 3, 4, 4, 4], y: [2, 4, 6, 1, 5, 9] },
      output: [null, null, 2, -1.5, -1, 0],
    },
    {
      formula: "covariance(x, y, 3, min_periods=2)",
      inputs: { x: [1, 2, null, 4], y: [3, 5, 6, Infinity] },
      output: [null, 1, 1, null],
    },
  ],
});
