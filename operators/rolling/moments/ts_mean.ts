import { exactMean } from "../../../src/exact/sums.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { hasBothInfinities } from "../../../src/operator/null_rules.ts";
import { mean } from "../../../src/rolling/sums.ts";

export const operator = defineOperator({
  name: "ts_mean",
  aliases: { native: ["sma"], qlib: ["mean", "sma"], gtja191: ["mean", "ma"] },
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "same",
  summary: "Arithmetic mean over the last d rows: the exact value rounded once.",
  nulls: "Null until d rows exist and while any value in the window is null; min_periods=m skips nulls.",
  source: "pandas Series.rolling(d).mean(); TA-Lib SMA",
  laws: ["ts_mean(x, 1) = x + 0"],
  allowsMinPeriods: true,
  costNs: (rows) => 40 + 8 * rows,
  windowRows: ({ d }) => d,
  nullWhere: { infinite_input: hasBothInfinities },
  reference: ([x]) => exactMean(x),
  lower: (on, [x], { d }, minPeriods) => mean(on, x, d, minPeriods),
  examples: [
    { formula: "ts_mean(x, 2)", inputs: { x: [1, 2, 4, null, 5] }, output: [null, 1.5, 3, null, null] },
    {
      formula: "ts_mean(x, 3, min_periods=2)",
      inputs: { x: [1, 2, 6, null, 8] },
      output: [null, 1.5, 3, 4, 7],
    },
  ],
});
