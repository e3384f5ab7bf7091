import { exactMean } from "../../src/exact/sums.ts";
import { defineOperator } from "../../src/operator/definition.ts";
import { hasBothInfinities } from "../../src/operator/null_rules.ts";

export const operator = defineOperator({
  name: "group_mean",
  axis: "group",
  parameters: [
    { name: "x", kind: "series" },
    { name: "g", kind: "group" },
  ],
  result: "series",
  unit: "same",
  summary: "Mean of the group in that row, in every lane that has a value: the exact value rounded once.",
  nulls: "Null where the value or its group is null; nulls do not count.",
  source: "group_mean(x, weight, group) of the WorldQuant BRAIN operators with equal weights",
  costNs: () => 25,
  nullWhere: { infinite_input: hasBothInfinities },
  reference: ([x], _settings, output) => output.fill(exactMean(x)),
  lower: (on) => on.mean(),
  examples: [
    {
      formula: "group_mean(x, g)",
      inputs: { x: [1, 2, 5, null, 7, 9], g: ["a", "b", "a", "a", null, "c"] },
      output: [3, 2, 3, null, null, 9],
    },
    {
      formula: "group_mean(x, g)",
      inputs: { x: [0.1, 0.2, 0.4, Infinity], g: ["a", "a", "a", "b"] },
      output: [0.23333333333333334, 0.23333333333333334, 0.23333333333333334, Infinity],
    },
  ],
});
