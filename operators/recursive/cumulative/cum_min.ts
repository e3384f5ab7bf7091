import { defineOperator } from "../../../src/operator/definition.ts";
import { lowerRecur, recur, UNSEEDED } from "../smoothing/ema.ts";

export const operator = defineOperator({
  name: "cum_min",
  axis: "recursive",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "same",
  summary: "Smallest of all values so far; 0 counts as above -0.",
  nulls: "Null until the first value; at a null the last result is carried over.",
  source: "numpy.minimum.accumulate",
  laws: ["cum_min(cum_min(x)) = cum_min(x)"],
  costNs: () => 8,
  initialState: () => UNSEEDED,
  nullWhere: {
    infinite_state: ([x], _settings, [least]) =>
      least === -Infinity || (least === Infinity && Number.isNaN(x)),
  },
  reference: ([x], _settings, state) => recur(x, state, (y, value) => Math.min(y, value)),
  lower: (on, [x], _settings, state) => lowerRecur(on, x, state, (y, value) => on.min(y, value)),
  examples: [
    { formula: "cum_min(x)", inputs: { x: [null, 3, 2, null, 5] }, output: [null, 3, 2, 2, 2] },
    {
      formula: "cum_min(x)",
      inputs: { x: [Infinity, 2, -Infinity, 7] },
      output: [Infinity, 2, -Infinity, -Infinity],
    },
  ],
});
