import { exactLastDeviation } from "../../../src/exact/moments.ts";
import { infiniteSum } from "../../../src/exact/special_values.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { lacksToday } from "../../../src/operator/null_rules.ts";

export const operator = defineOperator({
  name: "ts_av_diff",
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "same",
  summary: "Today's value minus the mean of the last d rows: the exact value rounded once.",
  nulls:
    "Null until d rows exist and while any value in the window is null; min_periods=m skips nulls before today.",
  source:
    "ts_av_diff(x, d) of the WorldQuant BRAIN operators: x - ts_mean(x, d), which there skips nulls as min_periods=1 does",
  allowsMinPeriods: true,
  costNs: (rows) => 100 + 12 * rows,
  windowRows: ({ d }) => d,
  nullWhere: {
    null_today: lacksToday,
    // Without an infinity that sum is 0.
    infinite_input: ([x]) => Number.isNaN(x[x.length - 1] - infiniteSum(x)),
  },
  reference: ([x], _settings, { positions, last }) =>
    positions.at(-1) === last ? exactLastDeviation(x) : Number.NaN,
  examples: [
    {
      formula: "ts_av_diff(x, 3)",
      inputs: { x: [1, 2, 6, 6, null] },
      output: [null, null, 3, 1.3333333333333333, null],
    },
    { formula: "ts_av_diff(x, 2)", inputs: { x: [Infinity, 1, 3] }, output: [null, -Infinity, 1] },
    {
      formula: "ts_av_diff(x, 3, min_periods=1)",
      inputs: { x: [1, 4, null, 7] },
      output: [0, 1.5, null, 1.5],
    },
  ],
});
