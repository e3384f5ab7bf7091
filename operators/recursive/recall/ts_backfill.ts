import { defineOperator } from "../../../src/operator/definition.ts";
import { lowerRecall, noValues, recallValue } from "./kth_element.ts";

export const operator = defineOperator({
  name: "ts_backfill",
  axis: "recursive",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
    { name: "k", kind: "window", default: 1 },
  ],
  result: "series",
  unit: "same",
  summary: "The value, or where it is null the k-th latest of the values among the last d rows.",
  nulls:
    "Null where the value is null and fewer than k values are among the last d rows or those that exist.",
  source:
    "ts_backfill(x, lookback, k) of the WorldQuant BRAIN operators; for k = 1 pandas Series.ffill(limit=d-1)",
  costNs: () => 12,
  initialState: ({ d, k }) => noValues(d, k),
  nullWhere: {
    infinite_state: ([x], { d, k }, state) =>
      Number.isNaN(x) && Math.abs(recallValue(x, d, k, state.slice())) === Infinity,
  },
  reference: ([x], { d, k }, state) => {
    const recalled = recallValue(x, d, k, state);
    return Number.isNaN(x) ? recalled : x;
  },
  lower: (on, [x], { d, k }, state) => {
    const recalled = lowerRecall(on, x, d, k, state);
    return recalled && { ...recalled, value: on.select(on.isNull(x), recalled.value, x) };
  },
  examples: [
    {
      formula: "ts_backfill(x, 3)",
      inputs: { x: [null, 100, null, 120, null, null, null] },
      output: [null, 100, 100, 120, 120, 120, null],
    },
    {
      formula: "ts_backfill(x, 4, 2)",
      inputs: { x: [100, null, 120, null, null] },
      output: [100, null, 120, 100, null],
    },
  ],
});
