import { exactSum } from "../../src/exact/sums.ts";
import { defineOperator } from "../../src/operator/definition.ts";
import { hasBothInfinities } from "../../src/operator/null_rules.ts";

export const operator = defineOperator({
  name: "cs_sum",
  axis: "cross_section",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "same",
  summary: "Sum of the row's values, in every lane that has one: the exact value rounded once.",
  nulls: "Nulls stay null and do not count.",
  source: "group_sum(x, market) of the WorldQuant BRAIN operators",
  costNs: () => 15,
  nullWhere: { infinite_input: hasBothInfinities },
  reference: ([x], _settings, output) => output.fill(exactSum(x)),
  lower: (on) => on.sum(),
  examples: [
    { formula: "cs_sum(x)", inputs: { x: [1, 2, null, 4] }, output: [7, 7, null, 7] },
    { formula: "cs_sum(x)", inputs: { x: [1e17, 1, -1e17] }, output: [1, 1, 1] },
    { formula: "cs_sum(x)", inputs: { x: [1, Infinity, null] }, output: [Infinity, Infinity, null] },
  ],
});
