import { defineOperator } from "../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "group_count",
  axis: "group",
  parameters: [
    { name: "x", kind: "series" },
    { name: "g", kind: "group" },
  ],
  result: "series",
  unit: "none",
  summary: "Number of values of the group in that row, in every lane that has one.",
  nulls: "Null where the value or its group is null; nulls do not count.",
  source: "group_count(x, group) of the WorldQuant BRAIN operators",
  costNs: () => 15,
  nullWhere: {},
  reference: ([x], _settings, output) => output.fill(x.length),
  lower: (on) => on.count(),
  examples: [
    {
      formula: "group_count(x, g)",
      inputs: { x: [1, 2, 5, null, 7, 9], g: ["a", "b", "a", "a", null, "c"] },
      output: [2, 1, 2, null, null, 1],
    },
    {
      formula: "group_count(1, g)",
      inputs: { x: [1, 2, null], g: ["a", null, "a"] },
      output: [2, null, 2],
    },
  ],
});
