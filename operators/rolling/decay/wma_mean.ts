import { exactMeanOfWeighted } from "../../../src/exact/sums.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { hasBothInfinities } from "../../../src/operator/null_rules.ts";

export const operator = defineOperator({
  name: "wma_mean",
  aliases: { qlib: ["wma"] },
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "same",
  summary:
    "Mean over the last d rows of value times weight, the weights 1 (oldest) to d (today) over their sum: the weighted " +
    "mean divided once more by the number of values, exact and rounded once.",
  nulls:
    "Null until d rows exist and while any value in the window is null; min_periods=m skips nulls, the other values keep " +
    "their weights.",
  source:
    "WMA of qlib.data.ops: numpy.nanmean(w * x); use decay_linear for the weighted mean of technical analysis",
  allowsMinPeriods: true,
  costNs: (rows) => 120 + 10 * rows,
  windowRows: ({ d }) => d,
  nullWhere: { infinite_input: hasBothInfinities },
  reference: ([x], _settings, { positions, last }) => exactMeanOfWeighted(x, positions, last + 1),
  examples: [
    {
      formula: "wma_mean(x, 3)",
      inputs: { x: [1, 2, 3, null] },
      output: [null, null, 0.7777777777777778, null],
    },
    {
      formula: "wma_mean(x, 3, min_periods=1)",
      inputs: { x: [6, null, 2, 5] },
      output: [6, 2, 1, 1.5833333333333333],
    },
  ],
});
