import { exactNineTenthsMean } from "../../../src/exact/sums.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { hasBothInfinities } from "../../../src/operator/null_rules.ts";

export const operator = defineOperator({
  name: "wma_decay",
  aliases: { gtja191: ["wma"] },
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "same",
  summary:
    "Weighted mean over the last d rows with the weights 0.9^k, k rows ago: the exact value rounded once.",
  nulls: "Null until d rows exist and while any value in the window is null.",
  source:
    "WMA(A, n) of Guotai Junan Securities (2017), 191 short-period price-volume factors: weights 0.9^i, normalised",
  costNs: (rows) => 100 + 24 * rows,
  windowRows: ({ d }) => d,
  nullWhere: { infinite_input: hasBothInfinities },
  reference: ([x]) => exactNineTenthsMean(x),
  examples: [
    {
      formula: "wma_decay(x, 2)",
      inputs: { x: [1, 2, 4, null, 5] },
      output: [null, 1.5263157894736843, 3.0526315789473686, null, null],
    },
    {
      formula: "wma_decay(x, 3)",
      inputs: { x: [10, 20, 30, Infinity] },
      output: [null, null, 20.70110701107011, Infinity],
    },
  ],
});
