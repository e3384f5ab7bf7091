import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "cum_count",
  axis: "recursive",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "none",
  summary: "Number of values so far.",
  nulls: "Never null: 0 until the first value; nulls do not count, infinities do.",
  source: "pandas Series.expanding().count()",
  costNs: () => 8,
  initialState: () => [0],
  nullWhere: {},
  reference: ([x], _settings, state) => {
    const count = state[0] + (Number.isNaN(x) ? 0 : 1);
    state[0] = count;
    return count;
  },
  lower: (on, [x], _settings, state) => {
    const count = on.add(state[0], on.keepOrZero(on.eq(x, x), on.number(1)));
    return { value: count, state: [count] };
  },
  examples: [
    { formula: "cum_count(x)", inputs: { x: [null, 5, null, Infinity, 0] }, output: [0, 1, 1, 2, 3] },
    {
      formula: "cum_count(x) > 2 ? x : null",
      inputs: { x: [4, 5, null, 6, 7] },
      output: [null, null, null, 6, 7],
    },
  ],
});
