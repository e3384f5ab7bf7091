import { exactSlope } from "../../../src/exact/regression.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { hasAnyInfinity, isFewerThan } from "../../../src/operator/null_rules.ts";
import { slope } from "../../../src/rolling/line.ts";

export const operator = defineOperator({
  name: "ts_slope",
  aliases: { qlib: ["slope"] },
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "same",
  summary: "Slope per row of the least-squares line through the last d rows: the exact value rounded once.",
  nulls:
    "Null until d rows exist, while any value in the window is null or infinite, and for fewer than 2 values; " +
    "min_periods=m skips nulls, the other values keep their rows.",
  source: "Slope of qlib.data.ops; slope of numpy.polyfit(0..d-1, x, 1)",
  allowsMinPeriods: true,
  costNs: (rows) => 150 + 14 * rows,
  windowRows: ({ d }) => d,
  nullWhere: { infinite_input: hasAnyInfinity, too_few_values: isFewerThan(2) },
  reference: ([x], _settings, { positions }) => exactSlope(x, positions),
  lower: (on, [x], { d }, minPeriods) => slope(on, x, d, minPeriods),
  examples: [
    {
      formula: "ts_slope(x, 3)",
      inputs: { x: [1, 2, 6, 6, null, 6] },
      output: [null, null, 2.5, 2, null, null],
    },
    {
      formula: "ts_slope(x, 4, min_periods=2)",
      inputs: { x: [1, null, 2, null, 5, Infinity] },
      output: [null, null, 0.5, 0.5, 1.5, null],
    },
  ],
});
