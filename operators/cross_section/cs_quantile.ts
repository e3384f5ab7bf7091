import { exactQuantile } from "../../src/exact/quantile.ts";
import { defineOperator } from "../../src/operator/definition.ts";
import { clip } from "./winsorize.ts";

/** The low- and the high-quantile of the values. */
function bounds(values: Float64Array, low: number, high: number): [number, number] {
  const sorted = values.slice();
  return [exactQuantile(sorted, low), exactQuantile(sorted, high)];
}

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
  nullWhere: {
    // There is no number between infinities of both signs.
    infinite_input: ([x], { low, high }) =>
      [low, high].every((share) => share >= 0 && share <= 1) && bounds(x, low, high).some(Number.isNaN),
    setting_out_of_range: ([x], { low, high }) => {
      const [least, most] = bounds(x, low, high);
      return !(least <= most);
    },
  },
  reference: ([x], { low, high }, output) => clip(x, ...bounds(x, low, high), output),
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
