import { exactRangeShares } from "../../src/exact/row_statistics.ts";
import { defineOperator } from "../../src/operator/definition.ts";
import { hasAnyInfinity, isFirstConstant } from "../../src/operator/null_rules.ts";

export const operator = defineOperator({
  name: "scale_down",
  axis: "cross_section",
  parameters: [
    { name: "x", kind: "series" },
    { name: "constant", kind: "constant", default: 0 },
  ],
  result: "series",
  unit: "none",
  summary:
    "Place between the smallest (0) and the largest (1) value of the row, minus a constant: the exact " +
    "value rounded once.",
  nulls:
    "Nulls stay null and do not count; the whole row is null where all values are equal or one is infinite.",
  source: "scale_down(x, constant) of the WorldQuant BRAIN operators",
  costNs: () => 65,
  nullWhere: { infinite_input: hasAnyInfinity, constant_row: isFirstConstant },
  reference: ([x], { constant }, output) => exactRangeShares(x, constant, output),
  lower: (on, { constant }) => constant === 0 && on.rangeShares(),
  examples: [
    { formula: "scale_down(x)", inputs: { x: [15, 7, null, 0, 20] }, output: [0.75, 0.35, null, 0, 1] },
    { formula: "scale_down(x, 1)", inputs: { x: [15, 7, 0, 20] }, output: [-0.25, -0.65, -1, 0] },
    { formula: "scale_down(x)", inputs: { x: [3, 3, null] }, output: [null, null, null] },
  ],
});
