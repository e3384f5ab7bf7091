import { exactDrawdown } from "../../../src/exact/drawdown.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { hasAnyInfinity } from "../../../src/operator/null_rules.ts";

export const operator = defineOperator({
  name: "ts_drawdown",
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "none",
  summary:
    "Maximum drawdown: the largest of (peak - x) / peak over the last d rows, peak being the largest value of the window " +
    "up to that row; the exact value rounded once, 0 for rising values.",
  nulls:
    "Null until d rows exist, while any value in the window is null or infinite, and where its first value is not above " +
    "0; min_periods=m skips nulls.",
  source:
    "maximum drawdown of Magdon-Ismail and Atiya (2004); WindowedMaxDrawdown of KunQuant, which looks below the largest " +
    "value of the window only",
  allowsMinPeriods: true,
  costNs: (rows) => 150 + 8 * rows,
  windowRows: ({ d }) => d,
  nullWhere: { infinite_input: hasAnyInfinity, domain: ([x]) => x[0] <= 0 },
  reference: ([x]) => exactDrawdown(x),
  examples: [
    {
      formula: "ts_drawdown(x, 3)",
      inputs: { x: [100, 50, 101, 100, null] },
      output: [null, null, 0.5, 0.009900990099009901, null],
    },
    { formula: "ts_drawdown(x, 3, min_periods=1)", inputs: { x: [8, null, 6, 10] }, output: [0, 0, 0.25, 0] },
  ],
});
