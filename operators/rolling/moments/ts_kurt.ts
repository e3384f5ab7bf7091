import { exactKurtosis } from "../../../src/exact/moments.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { hasAnyInfinity, isFewerThan, isFirstConstant } from "../../../src/operator/null_rules.ts";
import { kurtosis } from "../../../src/rolling/deviations.ts";

export const operator = defineOperator({
  name: "ts_kurt",
  aliases: { native: ["ts_kurtosis"], qlib: ["kurt"] },
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "none",
  summary:
    "Excess kurtosis of the last d rows, corrected for bias, 0 for a normal distribution: the exact value rounded once.",
  nulls:
    "Null until d rows exist, while any value in the window is null or infinite, for fewer than 4 values, and where " +
    "all are equal; min_periods=m skips nulls.",
  source: "pandas Series.rolling(d).kurt(): G2 of Joanes and Gill (1998), doi:10.1111/1467-9884.00122",
  allowsMinPeriods: true,
  costNs: (rows) => 450 + 60 * rows,
  codeNs: (rows) => 8 * rows,
  windowRows: ({ d }) => d,
  nullWhere: {
    infinite_input: hasAnyInfinity,
    too_few_values: isFewerThan(4),
    constant_window: isFirstConstant,
  },
  reference: ([x]) => exactKurtosis(x),
  lower: (on, [x], { d }, minPeriods) => kurtosis(on, x, d, minPeriods),
  examples: [
    {
      formula: "ts_kurt(x, 4)",
      inputs: { x: [1, 2, 3, 4, 9, null] },
      output: [null, null, null, -1.2, 2.703923900118906, null],
    },
    {
      formula: "ts_kurt(x, 5, min_periods=4)",
      inputs: { x: [1, null, 2, 3, 9, 5, 5, 5] },
      output: [
        null,
        null,
        null,
        null,
        3.014360041623309,
        0.7576559546313799,
        1.2384259259259258,
        2.9166666666666665,
      ],
    },
  ],
});
