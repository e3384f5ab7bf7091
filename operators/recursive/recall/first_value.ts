import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "first_value",
  axis: "recursive",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "same",
  summary: "The first value of the history: the oldest that is not null.",
  nulls: "Null until the first value, nowhere after it.",
  source: "Ref($x, 0) of qlib: the first value of the loaded series",
  laws: ["first_value(first_value(x)) = first_value(x)"],
  costNs: () => 8,
  initialState: () => [Number.NaN],
  nullWhere: { infinite_state: (_cells, _settings, [first]) => Math.abs(first) === Infinity },
  reference: ([x], _settings, state) => {
    if (Number.isNaN(state[0])) state[0] = x;
    return state[0];
  },
  lower: (on, [x], _settings, state) => {
    const first = state[0];
    const value = on.select(on.isNull(first), x, first);
    return { value, state: [value] };
  },
  examples: [
    { formula: "first_value(x)", inputs: { x: [null, 3, null, 7] }, output: [null, 3, 3, 3] },
    { formula: "x / first_value(x)", inputs: { x: [4, 5, null, 8] }, output: [1, 1.25, null, 2] },
  ],
});
