import { exactStandardDeviation } from "../../src/exact/moments.ts";
import { defineOperator } from "../../src/operator/definition.ts";
import { hasAnyInfinity, isFewerThan } from "../../src/operator/null_rules.ts";

export const operator = defineOperator({
  name: "group_std",
  aliases: { native: ["group_std_dev"] },
  axis: "group",
  parameters: [
    { name: "x", kind: "series" },
    { name: "g", kind: "group" },
  ],
  result: "series",
  unit: "same",
  summary:
    "Sample standard deviation (ddof 1) of the group in that row, in every lane that has a value: the " +
    "exact value rounded once.",
  nulls:
    "Null where the value or its group is null; nulls do not count; null for fewer than 2 values and where " +
    "one is infinite.",
  source: "group_std_dev(x, group) of the WorldQuant BRAIN operators",
  costNs: () => 45,
  nullWhere: { infinite_input: hasAnyInfinity, too_few_values: isFewerThan(2) },
  reference: ([x], _settings, output) => output.fill(exactStandardDeviation(x)),
  lower: (on) => on.standardDeviation(),
  examples: [
    {
      formula: "group_std(x, g)",
      inputs: { x: [1, 2, 5, null, 2, 7, 9], g: ["a", "b", "a", "a", "b", null, "c"] },
      output: [2.8284271247461903, 0, 2.8284271247461903, null, 0, null, null],
    },
    {
      formula: "group_std(x, g)",
      inputs: { x: [1, 2, 4, Infinity], g: ["a", "a", "a", "a"] },
      output: [null, null, null, null],
    },
  ],
});
