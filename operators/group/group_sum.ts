import { exactSum } from "../../src/exact/sums.ts";
import { defineOperator } from "../../src/operator/definition.ts";
import { hasBothInfinities } from "../../src/operator/null_rules.ts";

export const operator = defineOperator({
  name: "group_sum",
  axis: "group",
  parameters: [
    { name: "x", kind: "series" },
    { name: "g", kind: "group" },
  ],
  result: "series",
  unit: "same",
  summary: "Sum of the group in that row, in every lane that has a value: the exact value rounded once.",
  nulls: "Null where the value or its group is null; nulls do not count.",
  source: "group_sum(x, group) of the WorldQuant BRAIN operators",
  costNs: () => 25,
  nullWhere: { infinite_input: hasBothInfinities },
  reference: ([x], _settings, output) => output.fill(exactSum(x)),
  lower: (on) => on.sum(),
  examples: [
    {
      formula: "group_sum(x, g)",
      inputs: { x: [1, 2, 5, null, 7, 9], g: ["a", "b", "a", "a", null, "c"] },
      output: [6, 2, 6, null, null, 9],
    },
    {
      formula: "group_sum(x, g)",
      inputs: { x: [1e17, 3, 1, -1e17], g: ["a", "b", "a", "a"] },
      output: [1, 3, 1, 1],
    },
  ],
});
