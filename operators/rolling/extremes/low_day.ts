import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "low_day",
  aliases: { gtja191: ["lowday"] },
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "none",
  summary: "Rows since the smallest value of the last d rows, 0 for today; since the oldest of ties.",
  nulls: "Null until d rows exist and while any value in the window is null.",
  source: "LOWDAY(A, n) of Guotai Junan Securities (2017), 191 short-period price-volume factors",
  formula: "d - ts_argmin(x, d)",
  examples: [
    { formula: "low_day(x, 3)", inputs: { x: [9, 5, 5, 7, 1, null] }, output: [null, null, 1, 2, 0, null] },
  ],
});
