import { exactRejections } from "../../src/exact/row_statistics.ts";
import { defineOperator } from "../../src/operator/definition.ts";
import { hasAnyInfinity, isZero } from "../../src/operator/null_rules.ts";

export const operator = defineOperator({
  name: "group_vector_neut",
  axis: "group",
  parameters: [
    { name: "x", kind: "series" },
    { name: "y", kind: "series" },
    { name: "g", kind: "group" },
  ],
  result: "series",
  unit: "same",
  summary:
    "The part of x at right angles to y, x - y * (x . y) / (y . y), both as vectors over the lanes of the " +
    "group in that row: the exact value rounded once.",
  nulls:
    "Null where x, y or the group is null, such lanes do not count; null for groups where all y are 0 or a " +
    "value is infinite.",
  source: "group_vector_neut(x, y, g) of the WorldQuant BRAIN operators",
  costNs: () => 85,
  nullWhere: { infinite_input: hasAnyInfinity, zero_sum: ([, y]) => isZero(y) },
  reference: ([x, y], _settings, output) => exactRejections(x, y, output),
  examples: [
    {
      formula: "group_vector_neut(x, y, g)",
      inputs: { x: [1, 2, 7, 3, 4], y: [3, 4, 2, 5, null], g: ["a", "a", "b", "a", "a"] },
      output: [-0.56, -0.08, 0, 0.4, null],
    },
    {
      formula: "group_vector_neut(x, y, g)",
      inputs: { x: [1, 2, 3], y: [0, 1, 1], g: ["a", "b", null] },
      output: [null, 0, null],
    },
  ],
});
