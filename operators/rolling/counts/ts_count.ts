import { defineOperator } from "../../../src/operator/definition.ts";
import { countNonZero } from "../../../src/rolling/enough.ts";

export const operator = defineOperator({
  name: "ts_count",
  aliases: { gtja191: ["count"] },
  axis: "rolling",
  parameters: [
    { name: "c", kind: "condition" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "none",
  summary: "Number of the last d rows in which the condition holds.",
  nulls: "Null until d rows exist and while the condition is null in any of them; min_periods=m skips nulls.",
  source: "COUNT(condition, n) of Guotai Junan Securities (2017), 191 short-period price-volume factors",
  allowsMinPeriods: true,
  costNs: (rows) => 10 + rows,
  windowRows: ({ d }) => d,
  nullWhere: {},
  reference: ([holds]) => {
    let count = 0;
    for (let row = 0; row < holds.length; row++) if (holds[row] !== 0) count++;
    return count;
  },
  lower: (on, [c], { d }, minPeriods) => countNonZero(on, c, d, minPeriods),
  examples: [
    {
      formula: "ts_count(x > 1, 3)",
      inputs: { x: [1, 2, 3, 4, 0, null] },
      output: [null, null, 2, 3, 2, null],
    },
    { formula: "ts_count(x > 1, 3, min_periods=1)", inputs: { x: [2, null, 3, 0] }, output: [1, 1, 2, 1] },
  ],
});
