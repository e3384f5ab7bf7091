import { exactStandardScores } from "../../src/exact/row_statistics.ts";
import { defineOperator } from "../../src/operator/definition.ts";
import { hasAnyInfinity, isFewerThan, isFirstConstant } from "../../src/operator/null_rules.ts";

export const operator = defineOperator({
  name: "group_zscore",
  axis: "group",
  parameters: [
    { name: "x", kind: "series" },
    { name: "g", kind: "group" },
  ],
  result: "series",
  unit: "none",
  summary:
    "Distance from the mean of the group in that row in sample standard deviations (ddof 1): the exact " +
    "value rounded once.",
  nulls:
    "Null where the value or its group is null; nulls do not count; null for groups of fewer than 2 " +
    "values, of equal values, and with an infinity.",
  source:
    "zscore within a group; group_zscore(x, group) of the WorldQuant BRAIN operators, which divides by n " +
    "instead",
  costNs: () => 120,
  nullWhere: {
    infinite_input: hasAnyInfinity,
    too_few_values: isFewerThan(2),
    constant_row: isFirstConstant,
  },
  reference: ([x], _settings, output) => exactStandardScores(x, output),
  lower: (on) => on.standardScores(0),
  examples: [
    {
      formula: "group_zscore(x, g)",
      inputs: { x: [10, 7, 20, null, 30, 4, 4], g: ["a", "b", "a", "a", "a", "c", "c"] },
      output: [-1, null, 0, null, 1, null, null],
    },
    {
      formula: "group_zscore(x, g)",
      inputs: { x: [1, 2, 4, 8], g: ["a", "a", "a", null] },
      output: [-0.8728715609439696, -0.2182178902359924, 1.0910894511799618, null],
    },
  ],
});
