import { exactLineRSquare } from "../../../src/exact/regression.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { hasAnyInfinity, isFewerThan, isFirstConstant } from "../../../src/operator/null_rules.ts";
import { rSquare } from "../../../src/rolling/line.ts";

export const operator = defineOperator({
  name: "ts_rsquare",
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "none",
  summary:
    "Share of the variance that the least-squares line through the last d rows explains, in [0, 1]: the exact value " +
    "rounded once.",
  nulls:
    "Null until d rows exist, while any value in the window is null or infinite, for fewer than 2 values, and where all " +
    "are equal; min_periods=m skips nulls, the other values keep their rows.",
  source: "rolling_rsquare of qlib.data._libs: the squared correlation with 0..d-1",
  allowsMinPeriods: true,
  costNs: (rows) => 350 + 45 * rows,
  windowRows: ({ d }) => d,
  nullWhere: {
    infinite_input: hasAnyInfinity,
    too_few_values: isFewerThan(2),
    constant_window: isFirstConstant,
  },
  reference: ([x], _settings, { positions }) => exactLineRSquare(x, positions),
  lower: (on, [x], { d }, minPeriods) => rSquare(on, x, d, minPeriods),
  examples: [
    {
      formula: "ts_rsquare(x, 3)",
      inputs: { x: [1, 2, 6, 6, 6, null] },
      output: [null, null, 0.8928571428571429, 0.75, null, null],
    },
    {
      formula: "ts_rsquare(x, 3, min_periods=2)",
      inputs: { x: [1, null, 6, 8] },
      output: [null, null, 1, 1],
    },
  ],
});
