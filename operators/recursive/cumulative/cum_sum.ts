import { defineOperator } from "../../../src/operator/definition.ts";
import { lowerRecur, recur, staysInfinite, UNSEEDED } from "../smoothing/ema.ts";

export const operator = defineOperator({
  name: "cum_sum",
  aliases: { gtja191: ["sumac"] },
  axis: "recursive",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "same",
  summary: "Sum of all values so far, added up from the oldest, rounded at every step.",
  nulls:
    "Null until the first value; at a null the last result is carried over; an infinity never leaves it.",
  source: "numpy.cumsum; SUMAC(A) of Guotai Junan Securities (2017), 191 short-period price-volume alphas",
  costNs: () => 10,
  initialState: () => UNSEEDED,
  nullWhere: { infinite_state: staysInfinite },
  reference: ([x], _settings, state) => recur(x, state, (y, value) => y + value),
  lower: (on, [x], _settings, state) => lowerRecur(on, x, state, (y, value) => on.add(y, value)),
  examples: [
    { formula: "cum_sum(x)", inputs: { x: [null, 1, 2, null, 4] }, output: [null, 1, 3, 3, 7] },
    {
      formula: "cum_sum(x)",
      inputs: { x: [0.1, 0.2, 0.3] },
      output: [0.1, 0.30000000000000004, 0.6000000000000001],
    },
    {
      formula: "cum_sum(x)",
      inputs: { x: [1, Infinity, 1, -Infinity, 1] },
      output: [1, Infinity, Infinity, null, null],
    },
  ],
});
