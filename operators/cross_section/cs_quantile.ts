import { exactQuantile } from "../../src/exact/quantile.ts";
import { defineOperator } from "../../src/operator/definition.ts";
import { clip } from "./winsorize.ts";

export const operator = defineOperator({
  name: "cs_quantile",
  axis: "cross_section",
  parameters: [
    { name: "x", kind: "series" },
    { name: "low", kind: "constant", default: 0.025 },
    { name: "high", kind: "constant", default: 0.975 },
  ],
  result: "series",
  unit: "same",
  summary:
    "Value limited to the low- and high-quantile of the row, linear between neighbours; the bounds are exact " +
    "values rounded once.",
  nulls: "Nulls stay null and do not count; null unless 0 <= low <= high <= 1.",
  source: "cs_quantile(x, low_limit, up_limit) of polars_ta, which takes the nearest value; numpy.quantile",
  costNs: () => 70,
  reference: ([x], { low, high }, output) => {
    const sorted = x.slice();
    const least = exactQuantile(sorted, low);
    clip(x, least, exactQuantile(sorted, high), output);
  },
  examples: [
    {
      formula: "cs_quantile(x, 0.25, 0.75)",
      inputs: { x: [5, 1, null, 3, 2, 4] },
      output: [4, 2, null, 3, 2, 4],
    },
    { formula: "cs_quantile(x)", inputs: { x: [0, 10, Infinity] }, output: [0.5, 10, Infinity] },
    { formula: "cs_quantile(x, 0.9, 0.1)", inputs: { x: [1, 2] }, output: [null, null] },
  ],
});
