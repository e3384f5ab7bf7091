import { defineOperator } from "../../src/operator/definition.ts";
import { relativeRanks } from "../cross_section/rank.ts";

export const operator = defineOperator({
  name: "group_rank",
  axis: "group",
  parameters: [
    { name: "x", kind: "series" },
    { name: "g", kind: "group" },
  ],
  result: "series",
  range: "unit",
  unit: "none",
  summary:
    "Average rank of ties among the values of the group in that row, divided by their number: in (0, 1].",
  nulls: "Null where the value or its group is null; nulls do not count.",
  source:
    "rank(x) of Kakushadze (2015), arXiv:1601.00991, within a group; group_rank(x, group) of the " +
    "WorldQuant BRAIN operators runs from 0 to 1 instead",
  costNs: () => 130,
  nullWhere: {},
  reference: ([x], _settings, output) => relativeRanks(x, output),
  lower: (on) => on.relativeRanks(),
  examples: [
    {
      formula: "group_rank(x, g)",
      inputs: { x: [30, 10, null, 20, 10, 5, 6], g: ["a", "a", "a", "a", "a", "b", null] },
      output: [1, 0.375, null, 0.75, 0.375, 1, null],
    },
    {
      formula: "group_rank(x, g)",
      inputs: { x: [3, 3, 3, Infinity], g: ["a", "a", "a", "a"] },
      output: [0.5, 0.5, 0.5, 1],
    },
  ],
});
