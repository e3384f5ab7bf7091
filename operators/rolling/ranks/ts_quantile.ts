import { exactQuantile } from "../../../src/exact/quantile.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { quantile } from "../../../src/rolling/ranks.ts";

export const operator = defineOperator({
  name: "ts_quantile",
  aliases: { qlib: ["quantile"] },
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
    { name: "q", kind: "constant" },
  ],
  result: "series",
  unit: "same",
  summary:
    "The q-quantile of the last d rows, 0 the least and 1 the greatest value, linear between the two values around " +
    "position q * (n - 1): the exact value rounded once.",
  nulls:
    "Null until d rows exist, while any value in the window is null, between two infinities, and for q outside 0..1; " +
    "min_periods=m skips nulls.",
  source: "pandas Series.rolling(d).quantile(q, interpolation='linear')",
  allowsMinPeriods: true,
  costNs: (rows) => 150 + 30 * rows,
  codeNs: (rows) => 7 + 0.28 * rows,
  windowRows: ({ d }) => d,
  nullWhere: {
    setting_out_of_range: (_windows, { q }) => q < 0 || q > 1,
    infinite_input: ([x], { q }) => Number.isNaN(exactQuantile(x.slice(), q)),
  },
  reference: ([x], { q }) => exactQuantile(x, q),
  lower: (on, [x], { d, q }, minPeriods) => quantile(on, x, d, q, minPeriods),
  examples: [
    {
      formula: "ts_quantile(x, 5, 0.25)",
      inputs: { x: [1, 2, 4, 8, 16, 32, null] },
      output: [null, null, null, null, 2, 4, null],
    },
    // A share of an infinity is that infinity.
    {
      formula: "ts_quantile(x, 2, 0.5)",
      inputs: { x: [-Infinity, 5, Infinity, Infinity, -Infinity] },
      output: [null, -Infinity, Infinity, Infinity, null],
    },
    {
      formula: "ts_quantile(x, 3, 0.8, min_periods=1)",
      inputs: { x: [1, null, 2, 10] },
      output: [1, 1, 1.8, 8.4],
    },
  ],
});
