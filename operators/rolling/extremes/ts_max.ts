import { defineOperator } from "../../../src/operator/definition.ts";
import { largest } from "../../../src/rolling/extremes.ts";

export const operator = defineOperator({
  name: "ts_max",
  aliases: { qlib: ["max"], gtja191: ["tsmax"] },
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "same",
  summary: "Largest value of the last d rows; 0 counts as above -0.",
  nulls: "Null until d rows exist and while any value in the window is null; min_periods=m skips nulls.",
  source: "pandas Series.rolling(d).max(); ts_max(x, d) of Kakushadze (2015), arXiv:1601.00991",
  laws: ["ts_max(x, 1) = x", "ts_max(ts_max(x, a), b) = ts_max(x, a + b - 1)"],
  allowsMinPeriods: true,
  costNs: (rows) => 5 + 1.5 * rows,
  codeNs: (rows) => 0.55 * Math.log2(rows),
  windowRows: ({ d }) => d,
  nullWhere: {},
  reference: ([values]) => {
    let largest = values[0];
    for (let row = 1; row < values.length; row++) largest = Math.max(largest, values[row]);
    return largest;
  },
  lower: (on, [x], { d }, minPeriods) => largest(on, x, d, minPeriods),
  examples: [
    {
      formula: "ts_max(x, 3)",
      inputs: { x: [3, 4, 2, null, 5, 6, 4] },
      output: [null, null, 4, null, null, null, 6],
    },
    { formula: "ts_max(x, 2)", inputs: { x: [Infinity, 2, 3, 3] }, output: [null, Infinity, 3, 3] },
    { formula: "ts_max(x, 3, min_periods=1)", inputs: { x: [5, null, 4, 3] }, output: [5, 5, 5, 4] },
  ],
});
