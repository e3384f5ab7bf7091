import { exactResiduals } from "../../src/exact/row_statistics.ts";
import { defineOperator } from "../../src/operator/definition.ts";
import { hasAnyInfinity, isFewerThan, isSecondConstant } from "../../src/operator/null_rules.ts";

export const operator = defineOperator({
  name: "regression_neut",
  axis: "cross_section",
  parameters: [
    { name: "y", kind: "series" },
    { name: "x", kind: "series" },
  ],
  result: "series",
  unit: "same",
  summary:
    "Residual of the least squares line of y on x, with intercept, over the lanes of the row: the exact " +
    "value rounded once.",
  nulls:
    "Null where y or x is null, such lanes do not count; the whole row is null where all x are equal or a " +
    "value is infinite.",
  source: "ordinary least squares; regression_neut(y, x) of the WorldQuant BRAIN operators",
  costNs: () => 250,
  nullWhere: {
    infinite_input: hasAnyInfinity,
    too_few_values: isFewerThan(2),
    constant_row: isSecondConstant,
  },
  reference: ([y, x], _settings, output) => exactResiduals(y, x, output),
  examples: [
    {
      formula: "regression_neut(y, x)",
      inputs: { y: [1, 3, 2, 5, null], x: [1, 2, 3, 4, 5] },
      output: [-0.1, 0.8, -1.3, 0.6, null],
    },
    { formula: "regression_neut(y, x)", inputs: { y: [0.1, null, 0.3], x: [7, 8, 9] }, output: [0, null, 0] },
    {
      formula: "regression_neut(y, x)",
      inputs: { y: [1, 2, 3], x: [4, 4, null] },
      output: [null, null, null],
    },
  ],
});
