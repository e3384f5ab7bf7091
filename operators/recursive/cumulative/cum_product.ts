import { defineOperator } from "../../../src/operator/definition.ts";
import { lowerRecur, recur, staysInfinite, UNSEEDED } from "../smoothing/ema.ts";

export const operator = defineOperator({
  name: "cum_product",
  axis: "recursive",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "other",
  summary: "Product of all values so far, multiplied from the oldest, rounded at every step.",
  nulls:
    "Null until the first value; at a null the last result is carried over; after zero times infinity it is " +
    "always null.",
  source: "numpy.cumprod",
  costNs: () => 10,
  initialState: () => UNSEEDED,
  nullWhere: {
    infinite_state: staysInfinite,
    infinite_input: ([x], _settings, [product]) => product === 0 && Math.abs(x) === Infinity,
  },
  reference: ([x], _settings, state) => recur(x, state, (y, value) => y * value),
  lower: (on, [x], _settings, state) => lowerRecur(on, x, state, (y, value) => on.mul(y, value)),
  examples: [
    { formula: "cum_product(x)", inputs: { x: [null, 2, 3, null, 0.5] }, output: [null, 2, 6, 6, 3] },
    { formula: "cum_product(x)", inputs: { x: [1.1, 1.1, 0, 5] }, output: [1.1, 1.2100000000000002, 0, 0] },
  ],
});
