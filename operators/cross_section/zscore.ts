import { exactStandardScores } from "../../src/exact/row_statistics.ts";
import { defineOperator } from "../../src/operator/definition.ts";
import { hasAnyInfinity, isFewerThan, isFirstConstant } from "../../src/operator/null_rules.ts";

export const operator = defineOperator({
  name: "zscore",
  axis: "cross_section",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "none",
  summary:
    "Distance from the mean of the row in sample standard deviations (ddof 1): the exact value rounded once.",
  nulls:
    "Nulls stay null and do not count; the whole row is null for fewer than 2 values, where all are equal, " +
    "and where one is infinite.",
  source:
    "scipy.stats.zscore(x, ddof=1); zscore(x) of the WorldQuant BRAIN operators, which divides by n instead",
  costNs: () => 100,
  nullWhere: {
    infinite_input: hasAnyInfinity,
    too_few_values: isFewerThan(2),
    constant_row: isFirstConstant,
  },
  reference: ([x], _settings, output) => exactStandardScores(x, output),
  lower: (on) => on.standardScores(0),
  examples: [
    {
      formula: "zscore(x)",
      inputs: { x: [1, 2, null, 3] },
      output: [-1, 0, null, 1],
    },
    {
      formula: "zscore(x)",
      inputs: { x: [100, 0, 50, 60, 25] },
      output: [
        1.4064739649508295, -1.247250497220547, 0.0796117338651413, 0.34498418008227894, -0.5838193816777028,
      ],
    },
    { formula: "zscore(x)", inputs: { x: [0.1, 0.1, null, 0.1] }, output: [null, null, null, null] },
  ],
});
