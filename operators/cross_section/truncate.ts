import { exactMagnitudeShare } from "../../src/exact/row_bounds.ts";
import { hasInfinity } from "../../src/exact/special_values.ts";
import { defineOperator } from "../../src/operator/definition.ts";
import { clip } from "./winsorize.ts";

export const operator = defineOperator({
  name: "truncate",
  axis: "cross_section",
  parameters: [
    { name: "x", kind: "series" },
    { name: "max_percent", kind: "constant", default: 0.01 },
  ],
  result: "series",
  unit: "same",
  summary:
    "Value limited in magnitude to max_percent (a fraction) of the sum of the row's absolute values; that " +
    "bound is the exact value rounded once.",
  nulls:
    "Nulls stay null and do not count; an infinity leaves the row as it is; null for a negative max_percent.",
  source:
    "truncate(x, maxPercent) of the WorldQuant BRAIN operators, where values of both signs are not documented",
  costNs: () => 40,
  nullWhere: {
    setting_out_of_range: ([x], { max_percent: fraction }) => exactMagnitudeShare(x, fraction) < 0,
    infinite_input: ([x], { max_percent: fraction }) => fraction === 0 && hasInfinity(x),
  },
  reference: ([x], { max_percent: fraction }, output) => {
    const most = exactMagnitudeShare(x, fraction);
    clip(x, -most, most, output);
  },
  examples: [
    { formula: "truncate(x, 0.5)", inputs: { x: [3, 7, 20, null, 6] }, output: [3, 7, 18, null, 6] },
    { formula: "truncate(x, 0.25)", inputs: { x: [-5, 1, 2, -2] }, output: [-2.5, 1, 2, -2] },
    { formula: "truncate(x)", inputs: { x: [0.1, 0.2, 0.4] }, output: [0.007, 0.007, 0.007] },
  ],
});
