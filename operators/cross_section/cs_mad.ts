import { exactMedianBound } from "../../src/exact/row_bounds.ts";
import { defineOperator } from "../../src/operator/definition.ts";
import { hasAnyInfinity } from "../../src/operator/null_rules.ts";
import { clip } from "./winsorize.ts";

export const operator = defineOperator({
  name: "cs_mad",
  axis: "cross_section",
  parameters: [
    { name: "x", kind: "series" },
    { name: "n", kind: "constant", default: 3 },
    { name: "k", kind: "constant", default: 1.4826 },
  ],
  result: "series",
  unit: "same",
  summary:
    "Value limited to the median of the row plus and minus n * k times the median absolute distance from it; " +
    "the bounds are exact values rounded once.",
  nulls:
    "Nulls stay null and do not count; the whole row is null where a value is infinite and for a negative " +
    "n * k.",
  source: "cs_mad(x, n, k) of polars_ta; median absolute deviation of Hampel (1974), doi:10.2307/2285666",
  costNs: () => 80,
  nullWhere: {
    infinite_input: hasAnyInfinity,
    setting_out_of_range: ([x], { n, k }) => exactMedianBound(x, n, k) < exactMedianBound(x, -n, k),
  },
  reference: ([values], { n, k }, output) => {
    const bound = (factor: number) => exactMedianBound(values, factor, k);
    clip(values, bound(-n), bound(n), output);
  },
  lower: (on, { n, k }) => on.withinMedianDistances(n, k),
  examples: [
    {
      formula: "cs_mad(x, 2, 1)",
      inputs: { x: [1, 2, null, 3, 4, 100] },
      output: [1, 2, null, 3, 4, 5],
    },
    {
      formula: "cs_mad(x)",
      inputs: { x: [1, 2, 3, 100] },
      output: [1, 2, 3, 6.9478],
    },
    { formula: "cs_mad(x)", inputs: { x: [1, null, Infinity] }, output: [null, null, null] },
  ],
});
