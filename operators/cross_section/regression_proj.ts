import { exactFittedValues } from "../../src/exact/row_statistics.ts";
import { defineOperator } from "../../src/operator/definition.ts";
import { hasAnyInfinity, isFewerThan, isSecondConstant } from "../../src/operator/null_rules.ts";

export const operator = defineOperator({
  name: "regression_proj",
  axis: "cross_section",
  parameters: [
    { name: "y", kind: "series" },
    { name: "x", kind: "series" },
  ],
  result: "series",
  unit: "same",
  summary:
    "Value on the least squares line of y on x, with intercept, over the lanes of the row: the exact value " +
    "rounded once.",
  nulls:
    "Null where y or x is null, such lanes do not count; the whole row is null where all x are equal or a " +
    "value is infinite.",
  source: "ordinary least squares; regression_proj(y, x) of the WorldQuant BRAIN operators",
  costNs: () => 200,
  nullWhere: {
    infinite_input: hasAnyInfinity,
    too_few_values: isFewerThan(2),
    constant_row: isSecondConstant,
  },
  reference: ([y, x], _settings, output) => exactFittedValues(y, x, output),
  examples: [
    {
      formula: "regression_proj(y, x)",
      inputs: { y: [1, 3, 2, 5, null], x: [1, 2, 3, 4, 5] },
      output: [1.1, 2.2, 3.3, 4.4, null],
    },
    {
      formula: "regression_proj(y, x)",
      inputs: { y: [1, 2, 3], x: [4, 4, null] },
      output: [null, null, null],
    },
  ],
});
