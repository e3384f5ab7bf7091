import { exactLinearlyWeightedMean } from "../../../src/exact/sums.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { hasBothInfinities } from "../../../src/operator/null_rules.ts";
import { linearlyWeightedMean } from "../../../src/rolling/sums.ts";

export const operator = defineOperator({
  name: "decay_linear",
  aliases: { native: ["ts_decay_linear"], gtja191: ["decaylinear"] },
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "same",
  summary:
    "Weighted mean over the last d rows with the weights 1 (oldest) to d (today): the exact value rounded once.",
  nulls: "Null until d rows exist and while any value in the window is null.",
  source: "WMA of technical analysis; decay_linear(x, d) of Kakushadze (2015), arXiv:1601.00991",
  laws: ["decay_linear(x, 1) = x + 0"],
  costNs: (rows) => 40 + 20 * rows,
  windowRows: ({ d }) => d,
  nullWhere: { infinite_input: hasBothInfinities },
  reference: ([x]) => exactLinearlyWeightedMean(x),
  lower: (on, [x], { d }) => linearlyWeightedMean(on, x, d),
  examples: [
    {
      formula: "decay_linear(x, 3)",
      inputs: { x: [1, 2, 3, null, 6] },
      output: [null, null, 2.3333333333333335, null, null],
    },
    {
      formula: "decay_linear(x, 2)",
      inputs: { x: [5, 5, 2, Infinity, 2] },
      output: [null, 5, 3, Infinity, Infinity],
    },
  ],
});
