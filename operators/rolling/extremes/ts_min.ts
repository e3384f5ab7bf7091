import { defineOperator } from "../../../src/operator/definition.ts";
import { smallest } from "../../../src/rolling/extremes.ts";

export const operator = defineOperator({
  name: "ts_min",
  aliases: { qlib: ["min"], gtja191: ["tsmin"] },
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "same",
  summary: "Smallest value of the last d rows; 0 counts as above -0.",
  nulls: "Null until d rows exist and while any value in the window is null; min_periods=m skips nulls.",
  source: "pandas Series.rolling(d).min(); ts_min(x, d) of Kakushadze (2015), arXiv:1601.00991",
  laws: ["ts_min(x, 1) = x", "ts_min(ts_min(x, a), b) = ts_min(x, a + b - 1)"],
  allowsMinPeriods: true,
  costNs: (rows) => 5 + 1.5 * rows,
  codeNs: (rows) => 0.55 * Math.log2(rows),
  windowRows: ({ d }) => d,
  nullWhere: {},
  reference: ([values]) => {
    let smallest = values[0];
    for (let row = 1; row < values.length; row++) smallest = Math.min(smallest, values[row]);
    return smallest;
  },
  lower: (on, [x], { d }, minPeriods) => smallest(on, x, d, minPeriods),
  examples: [
    {
      formula: "ts_min(x, 3)",
      inputs: { x: [3, 1, 2, null, 5, 4, 6] },
      output: [null, null, 1, null, null, null, 4],
    },
    { formula: "ts_min(x, 2)", inputs: { x: [-Infinity, 2, 3, 3] }, output: [null, -Infinity, 2, 3] },
    { formula: "ts_min(x, 3, min_periods=1)", inputs: { x: [3, null, 4, 5] }, output: [3, 3, 3, 4] },
  ],
});
