import { exactLastResidual } from "../../../src/exact/regression.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import {
  hasAnyInfinity,
  isFewerThan,
  isSecondConstant,
  lacksToday,
} from "../../../src/operator/null_rules.ts";
import { regressionResidual } from "../../../src/rolling/regression.ts";

export const operator = defineOperator({
  name: "ts_regresid",
  axis: "rolling",
  parameters: [
    { name: "y", kind: "series" },
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "same",
  summary: "Today's residual of the regression of y on x over the last d rows: the exact value rounded once.",
  nulls:
    "Null until d rows exist, while any value in either window is null or infinite, for fewer than 2 rows, and where x " +
    "is constant; min_periods=m skips rows with a null before today.",
  source: "ordinary least squares; rettype 0 of ts_regression of WorldQuant BRAIN",
  allowsMinPeriods: true,
  costNs: (rows) => 600 + 70 * rows,
  codeNs: () => 12,
  windowRows: ({ d }) => d,
  nullWhere: {
    null_today: lacksToday,
    infinite_input: hasAnyInfinity,
    too_few_values: isFewerThan(2),
    constant_window: isSecondConstant,
  },
  reference: ([y, x], _settings, { positions, last }) =>
    positions.at(-1) === last ? exactLastResidual(y, x) : Number.NaN,
  lower: (on, [y, x], { d }, minPeriods) => regressionResidual(on, y, x, d, minPeriods),
  examples: [
    {
      formula: "ts_regresid(y, x, 3)",
      inputs: { y: [0, 0, 6, 1, null], x: [1, 2, 3, 3, 3] },
      output: [null, null, 1, -2.5, null],
    },
    {
      formula: "ts_regresid(y, x, 4, min_periods=3)",
      inputs: { y: [0, 0, null, 6, 5], x: [1, 2, 2, 4, null] },
      output: [null, null, null, 0.42857142857142855, null],
    },
  ],
});
