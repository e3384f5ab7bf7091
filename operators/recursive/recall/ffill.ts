import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "ffill",
  aliases: { qlib: ["ffillnan"] },
  axis: "recursive",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "same",
  summary: "The last value, however long ago.",
  nulls: "Null until the first value, nowhere after it.",
  source: "pandas Series.ffill(); FFillNan of qlib",
  laws: ["ffill(ffill(x)) = ffill(x)"],
  costNs: () => 8,
  initialState: () => [Number.NaN],
  nullWhere: {},
  reference: ([x], _settings, state) => {
    if (!Number.isNaN(x)) state[0] = x;
    return state[0];
  },
  lower: (on, [x], _settings, [last]) => {
    const value = on.select(on.isNull(x), last, x);
    return { value, state: [value] };
  },
  examples: [
    { formula: "ffill(x)", inputs: { x: [null, 3, null, null, 7] }, output: [null, 3, 3, 3, 7] },
    { formula: "ffill(x)", inputs: { x: [2, Infinity, null, 5] }, output: [2, Infinity, Infinity, 5] },
  ],
});
