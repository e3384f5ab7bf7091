import { exactAlpha } from "../../../src/exact/regression.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { hasAnyInfinity, isFewerThan, isSecondConstant } from "../../../src/operator/null_rules.ts";
import { regressionIntercept } from "../../../src/rolling/regression.ts";

export const operator = defineOperator({
  name: "ts_regalpha",
  axis: "rolling",
  parameters: [
    { name: "y", kind: "series" },
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "same",
  summary: "Intercept of the regression of y on x over the last d rows: the exact value rounded once.",
  nulls:
    "Null until d rows exist, while any value in either window is null or infinite, for fewer than 2 rows, and where x " +
    "is constant; min_periods=m skips rows with a null.",
  source: "ordinary least squares; rettype 1 of ts_regression of WorldQuant BRAIN",
  allowsMinPeriods: true,
  costNs: (rows) => 700 + 100 * rows,
  codeNs: () => 11,
  windowRows: ({ d }) => d,
  nullWhere: {
    infinite_input: hasAnyInfinity,
    too_few_values: isFewerThan(2),
    constant_window: isSecondConstant,
  },
  reference: ([y, x]) => exactAlpha(y, x),
  lower: (on, [y, x], { d }, minPeriods) => regressionIntercept(on, y, x, d, minPeriods),
  examples: [
    {
      formula: "ts_regalpha(y, x, 3)",
      inputs: { y: [2, 4, 7, 9, null], x: [1, 2, 3, 5, 7] },
      output: [null, null, -0.6666666666666666, 1.4285714285714286, null],
    },
    {
      formula: "ts_regalpha(y, x, 3, min_periods=2)",
      inputs: { y: [2, null, 6, 9], x: [1, 2, 3, 3] },
      output: [null, null, 0, null],
    },
  ],
});
