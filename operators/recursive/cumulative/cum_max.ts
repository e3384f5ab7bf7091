import { defineOperator } from "../../../src/operator/definition.ts";
import { lowerRecur, recur, UNSEEDED } from "../smoothing/ema.ts";

export const operator = defineOperator({
  name: "cum_max",
  axis: "recursive",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "same",
  summary: "Largest of all values so far; 0 counts as above -0.",
  nulls: "Null until the first value; at a null the last result is carried over.",
  source: "numpy.maximum.accumulate",
  laws: ["cum_max(cum_max(x)) = cum_max(x)"],
  costNs: () => 8,
  initialState: () => UNSEEDED,
  nullWhere: {
    infinite_state: ([x], _settings, [largest]) =>
      largest === Infinity || (largest === -Infinity && Number.isNaN(x)),
  },
  reference: ([x], _settings, state) => recur(x, state, (y, value) => Math.max(y, value)),
  lower: (on, [x], _settings, state) => lowerRecur(on, x, state, (y, value) => on.max(y, value)),
  examples: [
    { formula: "cum_max(x)", inputs: { x: [null, 3, 2, null, 5] }, output: [null, 3, 3, 3, 5] },
    {
      formula: "cum_max(x)",
      inputs: { x: [-Infinity, 2, Infinity, 7] },
      output: [-Infinity, 2, Infinity, Infinity],
    },
  ],
});
