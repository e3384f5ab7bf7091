import { exactCorrelation } from "../../../src/exact/moments.ts";
import { isConstant } from "../../../src/exact/special_values.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { hasAnyInfinity, isFewerThan } from "../../../src/operator/null_rules.ts";
import { correlation } from "../../../src/rolling/dispersion.ts";

export const operator = defineOperator({
  name: "correlation",
  aliases: { native: ["ts_corr"], gtja191: ["corr"] },
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "y", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "none",
  range: "signed_unit",
  summary:
    "Pearson correlation of x and y over the last d rows: the exact value rounded once, within [-1, 1].",
  nulls:
    "Null until d rows exist, while any value in either window is null, and where either side is constant; " +
    "min_periods=m skips rows with a null.",
  source: "pandas Series.rolling(d).corr(other)",
  laws: ["commutative"],
  allowsMinPeriods: true,
  costNs: (rows) => 150 + 90 * rows,
  windowRows: ({ d }) => d,
  nullWhere: {
    infinite_input: hasAnyInfinity,
    too_few_values: isFewerThan(2),
    constant_window: ([x, y]) => isConstant(x) || isConstant(y),
  },
  reference: ([x, y]) => exactCorrelation(x, y),
  lower: (on, [x, y], { d }, minPeriods) => correlation(on, x, y, d, minPeriods),
  examples: [
    {
      formula: "correlation(x, y, 3)",
      inputs: { x: [1, 2, 3, 4, 4, 4], y: [2, 4, 6, 1, 5, 9] },
      output: [null, null, 1, -0.5960395606792697, -0.6546536707079772, null],
    },
    {
      formula: "correlation(x, y, 3, min_periods=2)",
      inputs: { x: [1, 2, null, 4], y: [3, 5, 6, 4] },
      output: [null, 1, 1, -1],
    },
  ],
});
