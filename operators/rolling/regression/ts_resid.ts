import { exactLastLineResidual } from "../../../src/exact/regression.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { hasAnyInfinity, isFewerThan, lacksToday } from "../../../src/operator/null_rules.ts";
import { residualOfLine } from "../../../src/rolling/line.ts";

export const operator = defineOperator({
  name: "ts_resid",
  aliases: { qlib: ["resi"] },
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "same",
  summary:
    "Today's value minus the value today of the least-squares line through the last d rows: the exact value rounded once.",
  nulls:
    "Null until d rows exist, while any value in the window is null or infinite, and for fewer than 2 values; " +
    "min_periods=m skips nulls before today, the other values keep their rows.",
  source: "Resi of qlib.data.ops; last residual of numpy.polyfit(0..d-1, x, 1)",
  allowsMinPeriods: true,
  costNs: (rows) => 300 + 14 * rows,
  windowRows: ({ d }) => d,
  nullWhere: { null_today: lacksToday, infinite_input: hasAnyInfinity, too_few_values: isFewerThan(2) },
  reference: ([x], _settings, { positions, last }) =>
    positions.at(-1) === last ? exactLastLineResidual(x, positions) : Number.NaN,
  lower: (on, [x], { d }, minPeriods) => residualOfLine(on, x, d, minPeriods),
  examples: [
    {
      formula: "ts_resid(x, 3)",
      inputs: { x: [1, 2, 6, 6, null] },
      output: [null, null, 0.5, -0.6666666666666666, null],
    },
    {
      formula: "ts_resid(x, 4, min_periods=2)",
      inputs: { x: [1, 2, null, 6, 9] },
      output: [null, 0, null, 0.14285714285714285, 0.2857142857142857],
    },
  ],
});
