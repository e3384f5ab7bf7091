import { exactDeviationBound } from "../../src/exact/row_bounds.ts";
import { defineOperator } from "../../src/operator/definition.ts";
import { hasAnyInfinity, isFewerThan } from "../../src/operator/null_rules.ts";

/** `output[i]` = the number nearest to `values[i]` in `least .. most`; NaN if there is no such interval. */
export function clip(values: Float64Array, least: number, most: number, output: Float64Array): void {
  if (!(least <= most)) output.fill(Number.NaN);
  else
    values.forEach((value, i) => {
      output[i] = Math.max(least, Math.min(most, value));
    });
}

export const operator = defineOperator({
  name: "winsorize",
  axis: "cross_section",
  parameters: [
    { name: "x", kind: "series" },
    { name: "std", kind: "constant", default: 4 },
  ],
  result: "series",
  unit: "same",
  summary:
    "Value limited to the mean of the row plus and minus std sample standard deviations (ddof 1); the bounds " +
    "are exact values rounded once.",
  nulls:
    "Nulls stay null and do not count; the whole row is null for fewer than 2 values, where one is " +
    "infinite, and for a negative std.",
  source: "winsorize(x, std) of the WorldQuant BRAIN operators, which divides by n instead of n - 1",
  costNs: () => 120,
  nullWhere: {
    infinite_input: hasAnyInfinity,
    too_few_values: isFewerThan(2),
    setting_out_of_range: ([x], { std }) => exactDeviationBound(x, std) < exactDeviationBound(x, -std),
  },
  reference: ([x], { std }, output) =>
    clip(x, exactDeviationBound(x, -std), exactDeviationBound(x, std), output),
  lower: (on, { std }) => on.withinDeviations(std),
  examples: [
    {
      formula: "winsorize(x, 1)",
      inputs: { x: [2, 3, 4, null, 5, 100] },
      output: [2, 3, 4, null, 5, 65.97059184213254],
    },
    { formula: "winsorize(x)", inputs: { x: [1, 2, 3] }, output: [1, 2, 3] },
    { formula: "winsorize(x, 2)", inputs: { x: [7, null, null] }, output: [null, null, null] },
  ],
});
