import { exactShares } from "../../src/exact/row_statistics.ts";
import { hasInfinity } from "../../src/exact/special_values.ts";
import { defineOperator } from "../../src/operator/definition.ts";
import { isZero } from "../../src/operator/null_rules.ts";

export const operator = defineOperator({
  name: "scale",
  axis: "cross_section",
  parameters: [
    { name: "x", kind: "series" },
    { name: "a", kind: "constant", default: 1 },
  ],
  result: "series",
  unit: "none",
  summary: "Value times a, divided by the sum of the row's absolute values: the exact value rounded once.",
  nulls: "Nulls stay null and do not count; the whole row is null where the sum is 0.",
  source: "scale(x, a) of Kakushadze (2015), arXiv:1601.00991: x rescaled such that sum(abs(x)) = a",
  costNs: () => 60,
  nullWhere: {
    // An infinity divided by the infinite sum; of a number the share is 0.
    infinite_input: ([x], _settings, i) => hasInfinity(x) && !Number.isFinite(x[i]),
    zero_sum: ([x]) => isZero(x),
  },
  reference: ([x], { a }, output) => exactShares(x, a, output),
  lower: (on, { a }) => on.shares(a),
  examples: [
    { formula: "scale(x)", inputs: { x: [1, -3, null, 4] }, output: [0.125, -0.375, null, 0.5] },
    {
      formula: "scale(x, 2)",
      inputs: { x: [1, -1, 1] },
      output: [0.6666666666666666, -0.6666666666666666, 0.6666666666666666],
    },
    { formula: "scale(x)", inputs: { x: [0, null, 0] }, output: [null, null, null] },
    { formula: "scale(x, 2)", inputs: { x: [1e308, Infinity] }, output: [0, null] },
  ],
});
