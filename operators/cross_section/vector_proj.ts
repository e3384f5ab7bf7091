import { exactProjections } from "../../src/exact/row_statistics.ts";
import { defineOperator } from "../../src/operator/definition.ts";
import { hasAnyInfinity, isZero } from "../../src/operator/null_rules.ts";

export const operator = defineOperator({
  name: "vector_proj",
  axis: "cross_section",
  parameters: [
    { name: "x", kind: "series" },
    { name: "y", kind: "series" },
  ],
  result: "series",
  unit: "same",
  summary:
    "The part of x along y, y * (x . y) / (y . y), both as vectors over the lanes of the row: the exact " +
    "value rounded once.",
  nulls:
    "Null where x or y is null, such lanes do not count; the whole row is null where all y are 0 or a " +
    "value is infinite.",
  source: "vector_proj(x, y) of the WorldQuant BRAIN operators",
  costNs: () => 60,
  nullWhere: { infinite_input: hasAnyInfinity, zero_sum: ([, y]) => isZero(y) },
  reference: ([x, y], _settings, output) => exactProjections(x, y, output),
  examples: [
    {
      formula: "vector_proj(x, y)",
      inputs: { x: [1, 2, null, 3], y: [3, 4, 9, 5] },
      output: [1.56, 2.08, null, 2.6],
    },
    { formula: "vector_proj(x, y)", inputs: { x: [1, 2], y: [0, 0] }, output: [null, null] },
  ],
});
