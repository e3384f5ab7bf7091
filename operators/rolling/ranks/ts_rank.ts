import { defineOperator } from "../../../src/operator/definition.ts";
import { lacksToday } from "../../../src/operator/null_rules.ts";
import { rankOfToday } from "../../../src/rolling/ranks.ts";

export const operator = defineOperator({
  name: "ts_rank",
  aliases: { qlib: ["rank"], gtja191: ["tsrank"] },
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "none",
  range: "unit",
  summary: "Average rank of today's value among the last d rows, divided by their number: in (0, 1].",
  nulls:
    "Null until d rows exist and while any value in the window is null; min_periods=m skips nulls before today.",
  source: "pandas Series.rolling(d).rank(pct=True); ts_rank(x, d) of Kakushadze (2015), arXiv:1601.00991",
  allowsMinPeriods: true,
  costNs: (rows) => 10 + 4 * rows,
  codeNs: (rows) => 0.27 * rows,
  windowRows: ({ d }) => d,
  nullWhere: { null_today: lacksToday },
  reference: ([values], _settings, { positions, last }) => {
    if (positions.at(-1) !== last) return Number.NaN;
    const today = values[values.length - 1];
    let less = 0;
    let equal = 0; // counts today as well
    for (let row = 0; row < values.length; row++) {
      const value = values[row];
      if (value < today) less++;
      else if (value === today) equal++;
    }
    // Ranks less + 1 .. less + equal share their average; the numerator is exact, the division rounds once.
    return (less + (equal + 1) / 2) / values.length;
  },
  lower: (on, [x], { d }, minPeriods) => rankOfToday(on, x, d, minPeriods),
  examples: [
    {
      formula: "ts_rank(x, 3)",
      inputs: { x: [1, 2, 3, 3, 2, null] },
      output: [null, null, 1, 0.8333333333333334, 0.3333333333333333, null],
    },
    {
      formula: "ts_rank(x, 4)",
      inputs: { x: [5, 5, 5, 5, -Infinity] },
      output: [null, null, null, 0.625, 0.25],
    },
    {
      formula: "ts_rank(x, 3, min_periods=1)",
      inputs: { x: [4, null, 7, 5, 5] },
      output: [1, null, 1, 0.5, 0.5],
    },
  ],
});
