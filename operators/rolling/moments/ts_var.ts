import { exactVariance } from "../../../src/exact/moments.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { hasAnyInfinity, isFewerThan } from "../../../src/operator/null_rules.ts";
import { variance } from "../../../src/rolling/dispersion.ts";

export const operator = defineOperator({
  name: "ts_var",
  aliases: { qlib: ["var"] },
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "other",
  summary:
    "Sample variance (ddof 1) over the last d rows: the exact value rounded once, 0 for a constant window.",
  nulls:
    "Null until d rows exist, while any value in the window is null or infinite, and for fewer than 2 values; " +
    "min_periods=m skips nulls.",
  source: "pandas Series.rolling(d).var()",
  allowsMinPeriods: true,
  costNs: (rows) => 100 + 30 * rows,
  windowRows: ({ d }) => d,
  nullWhere: { infinite_input: hasAnyInfinity, too_few_values: isFewerThan(2) },
  reference: ([x]) => exactVariance(x),
  lower: (on, [x], { d }, minPeriods) => variance(on, x, d, minPeriods),
  examples: [
    {
      formula: "ts_var(x, 3)",
      inputs: { x: [1, 2, 4, 4, 4, null] },
      output: [null, null, 2.3333333333333335, 1.3333333333333333, 0, null],
    },
    {
      formula: "ts_var(x, 2, min_periods=2)",
      inputs: { x: [1, 4, Infinity, 3, null, 5] },
      output: [null, 4.5, null, null, null, null],
    },
  ],
});
