import { exactLastZScore } from "../../../src/exact/moments.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import {
  hasAnyInfinity,
  isFewerThan,
  isFirstConstant,
  lacksToday,
} from "../../../src/operator/null_rules.ts";
import { standardScore } from "../../../src/rolling/standard_score.ts";

export const operator = defineOperator({
  name: "ts_zscore",
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "none",
  summary:
    "Today's value minus the mean, over the sample standard deviation (ddof 1) of the last d rows: the exact value " +
    "rounded once.",
  nulls:
    "Null until d rows exist, while any value in the window is null or infinite, for fewer than 2 values, and where all " +
    "are equal; min_periods=m skips nulls before today.",
  source: "ts_zscore(x, d) of the WorldQuant BRAIN operators: (x - ts_mean(x, d)) / ts_std_dev(x, d)",
  allowsMinPeriods: true,
  costNs: (rows) => 350 + 45 * rows,
  codeNs: () => 6,
  windowRows: ({ d }) => d,
  nullWhere: {
    null_today: lacksToday,
    infinite_input: hasAnyInfinity,
    too_few_values: isFewerThan(2),
    constant_window: isFirstConstant,
  },
  reference: ([x], _settings, { positions, last }) =>
    positions.at(-1) === last ? exactLastZScore(x) : Number.NaN,
  lower: (on, [x], { d }, minPeriods) => standardScore(on, x, d, minPeriods),
  examples: [
    {
      formula: "ts_zscore(x, 3)",
      inputs: { x: [1, 2, 6, 6, 6, null] },
      output: [null, null, 1.1338934190276817, 0.5773502691896257, null, null],
    },
    {
      formula: "ts_zscore(x, 4, min_periods=3)",
      inputs: { x: [1, 4, null, 7, 1] },
      output: [null, null, null, 1, -1],
    },
  ],
});
