import { exactShares } from "../../src/exact/row_statistics.ts";
import { hasInfinity } from "../../src/exact/special_values.ts";
import { defineOperator } from "../../src/operator/definition.ts";
import { isZero } from "../../src/operator/null_rules.ts";

export const operator = defineOperator({
  name: "group_normalize",
  axis: "group",
  parameters: [
    { name: "x", kind: "series" },
    { name: "g", kind: "group" },
    { name: "scale", kind: "constant", default: 1 },
  ],
  result: "series",
  unit: "none",
  summary:
    "Value times scale, divided by the sum of the absolute values of its group in that row: the exact " +
    "value rounded once.",
  nulls: "Null where the value or its group is null; nulls do not count; null for groups whose sum is 0.",
  source: "group_normalize(x, group, constantCheck=False, scale) of the WorldQuant BRAIN operators",
  costNs: () => 40,
  nullWhere: {
    // An infinity divided by the infinite sum; of a number the share is 0.
    infinite_input: ([x], _settings, i) => hasInfinity(x) && !Number.isFinite(x[i]),
    zero_sum: ([x]) => isZero(x),
  },
  reference: ([x], { scale }, output) => exactShares(x, scale, output),
  lower: (on, { scale }) => on.shares(scale),
  examples: [
    {
      formula: "group_normalize(x, g)",
      inputs: { x: [1, 2, -3, null, 7, 0], g: ["a", "b", "a", "a", null, "c"] },
      output: [0.25, 1, -0.75, null, null, null],
    },
    {
      formula: "group_normalize(x, g, 100)",
      inputs: { x: [1, 2, 4], g: ["a", "a", "a"] },
      output: [14.285714285714286, 28.571428571428573, 57.142857142857146],
    },
  ],
});
