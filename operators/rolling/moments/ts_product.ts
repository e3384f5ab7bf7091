import { hasInfinity } from "../../../src/exact/special_values.ts";
import { exactProduct } from "../../../src/exact/sums.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { product } from "../../../src/rolling/product.ts";

export const operator = defineOperator({
  name: "ts_product",
  aliases: { native: ["product"], gtja191: ["prod"] },
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "other",
  summary: "Product over the last d rows: the exact value rounded once.",
  nulls: "Null until d rows exist and while any value in the window is null; min_periods=m skips nulls.",
  source: "pandas Series.rolling(d).apply(numpy.prod); product(x, d) of Kakushadze (2015), arXiv:1601.00991",
  laws: ["ts_product(x, 1) = x + 0"],
  allowsMinPeriods: true,
  costNs: (rows) => 40 + 20 * rows,
  codeNs: (rows) => 0.9 * rows,
  windowRows: ({ d }) => d,
  nullWhere: { infinite_input: ([x]) => hasInfinity(x) && x.includes(0) },
  reference: ([x]) => exactProduct(x),
  lower: (on, [x], { d }, minPeriods) => (minPeriods === null && d <= 64 ? product(on, x, d) : null),
  examples: [
    {
      formula: "ts_product(x, 3)",
      inputs: { x: [2, 3, 0.5, 0, null, 4] },
      output: [null, null, 3, 0, null, null],
    },
    { formula: "ts_product(x, 2)", inputs: { x: [Infinity, -2, 5, 7] }, output: [null, -Infinity, -10, 35] },
    { formula: "ts_product(x, 2, min_periods=1)", inputs: { x: [2, null, 5, 7] }, output: [2, 2, 5, 35] },
  ],
});
