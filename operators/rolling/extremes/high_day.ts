import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "high_day",
  aliases: { gtja191: ["highday"] },
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "none",
  summary: "Rows since the largest value of the last d rows, 0 for today; since the oldest of ties.",
  nulls: "Null until d rows exist and while any value in the window is null.",
  source: "HIGHDAY(A, n) of Guotai Junan Securities (2017), 191 short-period price-volume factors",
  formula: "d - ts_argmax(x, d)",
  examples: [
    { formula: "high_day(x, 3)", inputs: { x: [1, 5, 5, 2, 9, null] }, output: [null, null, 1, 2, 0, null] },
  ],
});
