import { exactCentralMoment, isMomentOrder } from "../../../src/exact/moments.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { hasAnyInfinity } from "../../../src/operator/null_rules.ts";

export const operator = defineOperator({
  name: "ts_moment",
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
    { name: "k", kind: "constant" },
  ],
  result: "series",
  unit: "other",
  summary:
    "The k-th central moment sum((x - mean)^k) / n over the last d rows: the exact value rounded once.",
  nulls:
    "Null until d rows exist, while any value in the window is null or infinite, and unless k is whole and in 0..16; " +
    "min_periods=m skips nulls.",
  source: "ts_moment(x, d, k) of the WorldQuant BRAIN operators; scipy.stats.moment",
  allowsMinPeriods: true,
  costNs: (rows) => 400 + 55 * rows,
  windowRows: ({ d }) => d,
  nullWhere: {
    setting_out_of_range: (_windows, { k }) => !isMomentOrder(k),
    infinite_input: hasAnyInfinity,
  },
  reference: ([x], { k }) => exactCentralMoment(x, k),
  examples: [
    {
      formula: "ts_moment(x, 3, 3)",
      inputs: { x: [1, 2, 6, 6, null] },
      output: [null, null, 6, -4.7407407407407405, null],
    },
    { formula: "ts_moment(x, 2, 2)", inputs: { x: [1, 4, Infinity, 2] }, output: [null, 2.25, null, null] },
    {
      formula: "ts_moment(x, 4, 4, min_periods=2)",
      inputs: { x: [1, null, 3, 7] },
      output: [null, null, 1, 58.074074074074076],
    },
  ],
});
