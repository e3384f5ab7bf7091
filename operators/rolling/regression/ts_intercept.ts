import { exactIntercept } from "../../../src/exact/regression.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { hasAnyInfinity, isFewerThan } from "../../../src/operator/null_rules.ts";

export const operator = defineOperator({
  name: "ts_intercept",
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "same",
  summary:
    "Value at the oldest row of the least-squares line through the last d rows: the exact value rounded once.",
  nulls:
    "Null until d rows exist, while any value in the window is null or infinite, and for fewer than 2 values; " +
    "min_periods=m skips nulls, the other values keep their rows.",
  source: "intercept of numpy.polyfit(0..d-1, x, 1)",
  allowsMinPeriods: true,
  costNs: (rows) => 150 + 14 * rows,
  windowRows: ({ d }) => d,
  nullWhere: { infinite_input: hasAnyInfinity, too_few_values: isFewerThan(2) },
  reference: ([x], _settings, { positions }) => exactIntercept(x, positions),
  examples: [
    {
      formula: "ts_intercept(x, 3)",
      inputs: { x: [1, 2, 6, 6, null] },
      output: [null, null, 0.5, 2.6666666666666665, null],
    },
    {
      formula: "ts_intercept(x, 4, min_periods=2)",
      inputs: { x: [null, 3, null, 7, 8] },
      output: [null, null, null, 1, 3.142857142857143],
    },
  ],
});
