import { exactMeanOverDeviation } from "../../../src/exact/moments.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { hasAnyInfinity, isFewerThan, isFirstConstant } from "../../../src/operator/null_rules.ts";
import { meanOverDeviation } from "../../../src/rolling/standard_score.ts";

export const operator = defineOperator({
  name: "ts_ir",
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "none",
  summary:
    "Information ratio: mean over sample standard deviation (ddof 1) of the last d rows, the exact value rounded once.",
  nulls:
    "Null until d rows exist, while any value in the window is null or infinite, for fewer than 2 values, and where all " +
    "are equal; min_periods=m skips nulls.",
  source: "ts_ir(x, d) of the WorldQuant BRAIN operators: ts_mean(x, d) / ts_std_dev(x, d)",
  allowsMinPeriods: true,
  costNs: (rows) => 350 + 50 * rows,
  codeNs: () => 6,
  windowRows: ({ d }) => d,
  nullWhere: {
    infinite_input: hasAnyInfinity,
    too_few_values: isFewerThan(2),
    constant_window: isFirstConstant,
  },
  reference: ([x]) => exactMeanOverDeviation(x),
  lower: (on, [x], { d }, minPeriods) => meanOverDeviation(on, x, d, minPeriods),
  examples: [
    {
      formula: "ts_ir(x, 3)",
      inputs: { x: [1, 2, 3, 3, 3, null] },
      output: [null, null, 2, 4.618802153517006, null, null],
    },
    {
      formula: "ts_ir(x, 3, min_periods=2)",
      inputs: { x: [1, null, -3, Infinity] },
      output: [null, null, -0.3535533905932738, null],
    },
  ],
});
