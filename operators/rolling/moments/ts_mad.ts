import { exactMeanAbsoluteDeviation } from "../../../src/exact/moments.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { hasAnyInfinity } from "../../../src/operator/null_rules.ts";
import { meanAbsoluteDeviation } from "../../../src/rolling/deviations.ts";

export const operator = defineOperator({
  name: "ts_mad",
  aliases: { qlib: ["mad"] },
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "same",
  summary: "Mean absolute deviation from the mean over the last d rows: the exact value rounded once.",
  nulls:
    "Null until d rows exist and while any value in the window is null or infinite; min_periods=m skips nulls.",
  source: "Mad of qlib.data.ops; pandas Series.mad() until 1.5",
  allowsMinPeriods: true,
  costNs: (rows) => 250 + 40 * rows,
  codeNs: (rows) => 5.5 * rows,
  windowRows: ({ d }) => d,
  nullWhere: { infinite_input: hasAnyInfinity },
  reference: ([x]) => exactMeanAbsoluteDeviation(x),
  lower: (on, [x], { d }, minPeriods) => meanAbsoluteDeviation(on, x, d, minPeriods),
  examples: [
    {
      formula: "ts_mad(x, 3)",
      inputs: { x: [1, 2, 6, 6, 6, null] },
      output: [null, null, 2, 1.7777777777777777, 0, null],
    },
    {
      formula: "ts_mad(x, 3, min_periods=1)",
      inputs: { x: [4, null, 7, Infinity] },
      output: [0, 0, 1.5, null],
    },
  ],
});
