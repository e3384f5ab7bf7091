import { defineOperator } from "../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "group_min",
  axis: "group",
  parameters: [
    { name: "x", kind: "series" },
    { name: "g", kind: "group" },
  ],
  result: "series",
  unit: "same",
  summary: "Smallest value of the group in that row, in every lane that has a value; 0 counts as above -0.",
  nulls: "Null where the value or its group is null; nulls do not count.",
  source: "group_min(x, group) of the WorldQuant BRAIN operators",
  costNs: () => 25,
  nullWhere: {},
  reference: ([x], _settings, output) => output.fill(x.reduce((least, value) => Math.min(least, value))),
  lower: (on) => on.smallest(),
  examples: [
    {
      formula: "group_min(x, g)",
      inputs: { x: [1, 2, 5, null, 7, 9], g: ["a", "b", "a", "a", null, "c"] },
      output: [1, 2, 1, null, null, 9],
    },
    {
      formula: "group_min(x, g)",
      inputs: { x: [1, -Infinity, 3], g: ["a", "a", "b"] },
      output: [-Infinity, -Infinity, 3],
    },
  ],
});
