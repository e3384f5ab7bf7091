import { exactBeta } from "../../../src/exact/regression.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { hasAnyInfinity, isFewerThan, isSecondConstant } from "../../../src/operator/null_rules.ts";
import { regressionSlope } from "../../../src/rolling/regression.ts";

export const operator = defineOperator({
  name: "ts_regbeta",
  aliases: { gtja191: ["regbeta"] },
  axis: "rolling",
  parameters: [
    { name: "y", kind: "series" },
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "other",
  summary: "Slope of the regression of y on x over the last d rows: the exact value rounded once.",
  nulls:
    "Null until d rows exist, while any value in either window is null or infinite, for fewer than 2 rows, and where x " +
    "is constant; min_periods=m skips rows with a null.",
  source:
    "covariance(y, x) / variance(x), ordinary least squares; rettype 2 of ts_regression of WorldQuant BRAIN",
  allowsMinPeriods: true,
  costNs: (rows) => 400 + 70 * rows,
  codeNs: () => 8,
  windowRows: ({ d }) => d,
  nullWhere: {
    infinite_input: hasAnyInfinity,
    too_few_values: isFewerThan(2),
    constant_window: isSecondConstant,
  },
  reference: ([y, x]) => exactBeta(y, x),
  lower: (on, [y, x], { d }, minPeriods) => regressionSlope(on, y, x, d, minPeriods),
  examples: [
    {
      formula: "ts_regbeta(y, x, 3)",
      inputs: { y: [2, 4, 6, 9, null, 1], x: [1, 2, 3, 5, 7, 7] },
      output: [null, null, 2, 1.6428571428571428, null, null],
    },
    { formula: "ts_regbeta(y, x, 2)", inputs: { y: [2, 4, 6], x: [1, 3, 3] }, output: [null, 1, null] },
    {
      formula: "ts_regbeta(y, x, 3, min_periods=2)",
      inputs: { y: [2, null, 6, 9], x: [1, 2, 3, null] },
      output: [null, null, 2, null],
    },
  ],
});
