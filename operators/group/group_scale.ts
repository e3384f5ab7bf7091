import { exactRangeShares } from "../../src/exact/row_statistics.ts";
import { defineOperator } from "../../src/operator/definition.ts";
import { hasAnyInfinity, isFirstConstant } from "../../src/operator/null_rules.ts";

export const operator = defineOperator({
  name: "group_scale",
  axis: "group",
  parameters: [
    { name: "x", kind: "series" },
    { name: "g", kind: "group" },
  ],
  result: "series",
  unit: "none",
  summary:
    "Place between the smallest (0) and the largest (1) value of the group in that row: the exact value " +
    "rounded once.",
  nulls:
    "Null where the value or its group is null; nulls do not count; null for groups of equal values and " +
    "with an infinity.",
  source: "group_scale(x, group) of the WorldQuant BRAIN operators",
  costNs: () => 90,
  nullWhere: { infinite_input: hasAnyInfinity, constant_row: isFirstConstant },
  reference: ([x], _settings, output) => exactRangeShares(x, 0, output),
  lower: (on) => on.rangeShares(),
  examples: [
    {
      formula: "group_scale(x, g)",
      inputs: { x: [10, 5, 20, 15, 30, 25, null], g: ["a", "b", "a", "b", "a", "b", "a"] },
      output: [0, 0, 0.5, 0.5, 1, 1, null],
    },
    {
      formula: "group_scale(x, g)",
      inputs: { x: [1, 2, 4, 8, 6], g: ["a", "a", "a", "b", null] },
      output: [0, 0.3333333333333333, 1, null, null],
    },
  ],
});
