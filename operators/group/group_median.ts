import { exactMedian } from "../../src/exact/quantile.ts";
import { defineOperator } from "../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "group_median",
  axis: "group",
  parameters: [
    { name: "x", kind: "series" },
    { name: "g", kind: "group" },
  ],
  result: "series",
  unit: "same",
  summary:
    "Median of the group in that row, in every lane that has a value; for an even number the mean of the " +
    "two in the middle, rounded once.",
  nulls: "Null where the value or its group is null; nulls do not count.",
  source: "group_median(x, group) of the WorldQuant BRAIN operators",
  costNs: () => 45,
  nullWhere: { infinite_input: ([x]) => Number.isNaN(exactMedian(x.slice())) },
  reference: ([x], _settings, output) => output.fill(exactMedian(x.slice())),
  examples: [
    {
      formula: "group_median(x, g)",
      inputs: { x: [1, 2, 5, null, 30, 9, 4], g: ["a", "b", "a", "a", "a", null, "b"] },
      output: [5, 3, 5, null, 5, null, 3],
    },
    {
      formula: "group_median(x, g)",
      inputs: { x: [1, Infinity, 3, 0.1, 0.2], g: ["a", "a", "a", "b", "b"] },
      output: [3, 3, 3, 0.15000000000000002, 0.15000000000000002],
    },
  ],
});
