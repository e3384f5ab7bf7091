import { defineOperator } from "../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "demean",
  axis: "rewrite",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "same",
  summary: "Value minus the mean of the row: the exact value rounded once.",
  nulls: "Nulls stay null and do not count in the mean.",
  source: "cs_demean(x) of polars_ta; normalize(x) of the WorldQuant BRAIN operators",
  formula: "normalize(x)",
  examples: [
    { formula: "demean(x)", inputs: { x: [3, 5, null, 6, 2] }, output: [-1, 1, null, 2, -2] },
    {
      formula: "demean(x)",
      inputs: { x: [0.1, 0.2, 0.4] },
      output: [-0.13333333333333333, -0.03333333333333333, 0.16666666666666669],
    },
    // The mean is infinite; infinity minus infinity is null.
    { formula: "demean(x)", inputs: { x: [1, Infinity, 3] }, output: [-Infinity, null, -Infinity] },
  ],
});
