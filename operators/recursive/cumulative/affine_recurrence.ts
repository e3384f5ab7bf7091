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
  summary: "Result p * y + q of the last result y, which is 1 before the first row; where c is 0, q alone.",
  nulls: "Never null: where an argument or the result is null the last result is carried over.",
  source: "SELF of alpha 143 of Guotai Junan Securities (2017), 191 short-period price-volume alphas",
  costNs: () => 15,
  initialState: () => [1],
  nullWhere: {
    infinite_state: ([p, q, c], _settings, [y]) =>
      Math.abs(y) === Infinity && (c !== 0 || Number.isNaN(p) || Number.isNaN(q)),
  },
  reference: ([p, q, c], _settings, state) => {
    const y = state[0];
    // Not 0 * y: an infinite y must not outlive a row that does not look back.
    const next = c === 0 ? q : p * y + q;
    if (Number.isNaN(next) || Number.isNaN(c) || Number.isNaN(p)) return y;
    state[0] = next;
    return next;
  },
  lower: (on, [p, q, c], _settings, [y]) => {
    const next = on.select(on.eq(c, on.number(0)), q, on.add(on.mul(p, y), q));
    const isNull = on.or(on.isNull(next), on.or(on.isNull(c), on.isNull(p)));
    const value = on.select(isNull, y, next);
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
  ],
});
