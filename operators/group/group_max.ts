import { defineOperator } from "../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "group_max",
  axis: "group",
  parameters: [
    { name: "x", kind: "series" },
    { name: "g", kind: "group" },
  ],
  result: "series",
  unit: "same",
  summary: "Largest value of the group in that row, in every lane that has a value; 0 counts as above -0.",
  nulls: "Null where the value or its group is null; nulls do not count.",
  source: "group_max(x, group) of the WorldQuant BRAIN operators",
  costNs: () => 25,
  nullWhere: {},
  reference: ([x], _settings, output) => output.fill(x.reduce((most, value) => Math.max(most, value))),
  lower: (on) => on.largest(),
  examples: [
    {
      formula: "group_max(x, g)",
      inputs: { x: [1, 2, 5, null, 7, 9], g: ["a", "b", "a", "a", null, "c"] },
      output: [5, 2, 5, null, null, 9],
    },
    {
      formula: "group_max(x, g)",
      inputs: { x: [-1, Infinity, -3], g: ["a", "a", "b"] },
      output: [Infinity, Infinity, -3],
    },
  ],
});
