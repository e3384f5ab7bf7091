import { exactLastResidualOfThree } from "../../../src/exact/regression.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { hasAnyInfinity, isFewerThan, lacksToday } from "../../../src/operator/null_rules.ts";

export const operator = defineOperator({
  name: "ts_regresid3",
  aliases: { gtja191: ["regresi"] },
  axis: "rolling",
  parameters: [
    { name: "y", kind: "series" },
    { name: "a", kind: "series" },
    { name: "b", kind: "series" },
    { name: "c", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "same",
  summary:
    "Today's residual of the regression of y on a, b, c and a constant over the last d rows: the exact value rounded once.",
  nulls:
    "Null until d rows exist, while any value in the windows is null or infinite, and where a, b, c and the constant are " +
    "linearly dependent, as they are for fewer than 4 rows; min_periods=m skips rows with a null before today.",
  source:
    "REGRESI(A, B, C, D, n) of Guotai Junan Securities (2017), alpha 30: the residual of the Fama-French factors",
  allowsMinPeriods: true,
  costNs: (rows) => 3500 + 250 * rows,
  windowRows: ({ d }) => d,
  nullWhere: {
    null_today: lacksToday,
    infinite_input: hasAnyInfinity,
    too_few_values: isFewerThan(4),
    collinear: ([y, ...regressors]) => Number.isNaN(exactLastResidualOfThree(y, regressors)),
  },
  reference: ([y, ...regressors], _settings, { positions, last }) =>
    positions.at(-1) === last ? exactLastResidualOfThree(y, regressors) : Number.NaN,
  examples: [
    {
      formula: "ts_regresid3(y, a, b, c, 5)",
      inputs: {
        y: [1, 2, 3, 5, 9, null],
        a: [0, 1, 0, 0, 1, 1],
        b: [0, 0, 1, 0, 1, 0],
        c: [0, 0, 0, 1, 1, 1],
      },
      output: [null, null, null, null, 0.125, null],
    },
    // b is twice a.
    {
      formula: "ts_regresid3(y, a, b, c, 5)",
      inputs: { y: [1, 2, 3, 5, 9], a: [0, 1, 2, 3, 4], b: [0, 2, 4, 6, 8], c: [1, 0, 0, 1, 1] },
      output: [null, null, null, null, null],
    },
    {
      formula: "ts_regresid3(y, a, b, c, 6, min_periods=5)",
      inputs: {
        y: [1, 2, null, 3, 5, 9],
        a: [0, 1, 5, 0, 0, 1],
        b: [0, 0, 5, 1, 0, 1],
        c: [0, 0, 5, 0, 1, 1],
      },
      output: [null, null, null, null, null, 0.125],
    },
  ],
});
