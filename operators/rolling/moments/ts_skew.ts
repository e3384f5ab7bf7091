import { exactSkewness } from "../../../src/exact/moments.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { hasAnyInfinity, isFewerThan, isFirstConstant } from "../../../src/operator/null_rules.ts";
import { skewness } from "../../../src/rolling/deviations.ts";

export const operator = defineOperator({
  name: "ts_skew",
  aliases: { native: ["ts_skewness"], qlib: ["skew"] },
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "none",
  summary: "Skewness of the last d rows, corrected for bias: the exact value rounded once.",
  nulls:
    "Null until d rows exist, while any value in the window is null or infinite, for fewer than 3 values, and where " +
    "all are equal; min_periods=m skips nulls.",
  source: "pandas Series.rolling(d).skew(): G1 of Joanes and Gill (1998), doi:10.1111/1467-9884.00122",
  allowsMinPeriods: true,
  costNs: (rows) => 450 + 55 * rows,
  codeNs: (rows) => 8 * rows,
  windowRows: ({ d }) => d,
  nullWhere: {
    infinite_input: hasAnyInfinity,
    too_few_values: isFewerThan(3),
    constant_window: isFirstConstant,
  },
  reference: ([x]) => exactSkewness(x),
  lower: (on, [x], { d }, minPeriods) => skewness(on, x, d, minPeriods),
  examples: [
    {
      formula: "ts_skew(x, 3)",
      inputs: { x: [1, 2, 4, 4, 4, null] },
      output: [null, null, 0.9352195295828245, -1.7320508075688772, null, null],
    },
    {
      formula: "ts_skew(x, 4, min_periods=3)",
      inputs: { x: [3, null, 1, 1, 8, Infinity] },
      output: [null, null, null, 1.7320508075688772, 1.7320508075688772, null],
    },
  ],
});
