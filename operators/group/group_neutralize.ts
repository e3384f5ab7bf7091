import { exactDeviations } from "../../src/exact/row_statistics.ts";
import { infiniteSum } from "../../src/exact/special_values.ts";
import { defineOperator } from "../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "group_neutralize",
  aliases: { native: ["indneutralize"] },
  axis: "group",
  parameters: [
    { name: "x", kind: "series" },
    { name: "g", kind: "group" },
  ],
  result: "series",
  unit: "same",
  summary: "Value minus the mean of its group in that row: the exact value rounded once.",
  nulls: "Null where the value or its group is null; nulls do not count in the mean.",
  source: "indneutralize(x, g) of Kakushadze (2015), arXiv:1601.00991",
  costNs: () => 60,
  nullWhere: { infinite_input: ([x], _settings, i) => Number.isNaN(x[i] - infiniteSum(x)) },
  reference: ([x], _settings, output) => exactDeviations(x, output),
  lower: (on) => on.deviations(0),
  examples: [
    {
      formula: "group_neutralize(x, g)",
      inputs: { x: [1, 2, 4, null, 7, 9], g: ["a", "b", "a", "a", null, "c"] },
      output: [-1.5, 0, 1.5, null, null, 0],
    },
  ],
});
