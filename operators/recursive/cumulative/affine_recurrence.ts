import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "affine_recurrence",
  axis: "recursive",
  parameters: [
    { name: "p", kind: "series" },
    { name: "q", kind: "series" },
    { name: "c", kind: "series" },
  ],
  result: "series",
  unit: "other",
  summary:
    "Result p * y + q of the last result y, which is 1 before the first row; where c is 0 it starts again from " +
    "q alone.",
  nulls:
    "Null from a row where c is null, so that it is unknown whether it starts again, until it does; null where it " +
    "starts again from a null, until it next does; elsewhere the last result is carried over where p, q or the " +
    "result is null.",
  source: "SELF of alpha 143 of Guotai Junan Securities (2017), 191 short-period price-volume alphas",
  costNs: () => 15,
  initialState: () => [1],
  nullWhere: {
    no_value_yet: ([, q, c], _settings, [y]) => Number.isNaN(c) || Number.isNaN(c === 0 ? q : y),
    infinite_state: ([, , c], _settings, [y]) => Math.abs(y) === Infinity && c !== 0,
  },
  reference: ([p, q, c], _settings, state) => {
    const y = state[0];
    // Not 0 * y: what was before must not outlive a row that does not look back.
    const next = c === 0 ? q : p * y + q;
    const isCarried = c !== 0 && Number.isNaN(next);
    state[0] = Number.isNaN(c) ? Number.NaN : isCarried ? y : next;
    return state[0];
  },
  lower: (on, [p, q, c], _settings, [y]) => {
    const next = on.add(on.mul(p, y), q);
    const going = on.select(on.isNull(next), y, next);
    const value = on.select(on.eq(c, on.number(0)), q, on.select(on.isNull(c), on.number(Number.NaN), going));
    return { value, state: [value] };
  },
  examples: [
    {
      formula: "affine_recurrence(x, y, 1)",
      inputs: { x: [null, 2, 3, 0.5, 1], y: [1, 0, 1, null, -7] },
      output: [1, 2, 7, 7, 0],
    },
    {
      formula: "affine_recurrence(x > delay(x, 1) ? x / delay(x, 1) - 1 : 1, 0, 1)",
      inputs: { x: [4, 5, 4, 6, null] },
      output: [1, 0.25, 0.25, 0.125, 0.125],
    },
    {
      formula: "affine_recurrence(x, 3, x)",
      inputs: { x: [Infinity, 0, 2] },
      output: [Infinity, 3, 9],
    },
    // A sum that starts again each day: null until the first day that is seen to begin.
    {
      formula: "affine_recurrence(1, x, delta(day, 1) == 0)",
      inputs: { x: [1, 2, 3, 4, 5, 6, 7], day: [1, 1, 2, 2, null, 3, 4] },
      output: [null, null, 3, 7, null, null, 7],
    },
    // So it does after a row that begins with a null.
    {
      formula: "affine_recurrence(0.5, x, c)",
      inputs: { x: [null, 4, null, 2, 8], c: [1, 1, 0, 1, 0] },
      output: [1, 4.5, null, null, 8],
    },
  ],
});
