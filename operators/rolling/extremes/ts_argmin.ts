import { defineOperator } from "../../../src/operator/definition.ts";
import { positionOfSmallest } from "../../../src/rolling/extremes.ts";

export const operator = defineOperator({
  name: "ts_argmin",
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "none",
  summary:
    "Position of the smallest value of the last d rows, 1 for the oldest row and d for today; the oldest of ties.",
  nulls:
    "Null until d rows exist and while any value in the window is null; min_periods=m skips nulls, positions then count " +
    "from the oldest row of the window that exists.",
  source:
    "pandas Series.rolling(d).apply(numpy.argmin) + 1; ts_argmin(x, d) of Kakushadze (2015), arXiv:1601.00991",
  allowsMinPeriods: true,
  costNs: (rows) => 5 + 2.5 * rows,
  codeNs: (rows) => 1.2 * Math.log2(rows),
  windowRows: ({ d }) => d,
  nullWhere: {},
  reference: ([values], _settings, { positions }) => {
    let best = 0;
    for (let row = 1; row < values.length; row++) {
      if (values[row] < values[best]) best = row;
    }
    return positions[best] + 1;
  },
  lower: (on, [x], { d }, minPeriods) => positionOfSmallest(on, x, d, minPeriods),
  examples: [
    {
      formula: "ts_argmin(x, 3)",
      inputs: { x: [9, 5, 5, 7, 7, 1, null] },
      output: [null, null, 2, 1, 1, 3, null],
    },
    { formula: "ts_argmin(x, 3)", inputs: { x: [4, 4, 4, -Infinity] }, output: [null, null, 1, 3] },
    {
      formula: "ts_argmin(x, 3, min_periods=1)",
      inputs: { x: [7, null, 4, 5, null, null] },
      output: [1, 1, 3, 2, 1, 1],
    },
  ],
});
