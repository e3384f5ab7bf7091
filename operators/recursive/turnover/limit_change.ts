import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "limit_change",
  axis: "recursive",
  parameters: [
    { name: "x", kind: "series" },
    { name: "limit", kind: "series" },
  ],
  result: "series",
  unit: "same",
  summary:
    "The last result, moved by limit towards x where x is at least that far away; seeded by the first " +
    "value of x.",
  nulls: "Null until the first value; where x or limit is null the last result is carried over.",
  source: "the recursion of hump(x, hump) of the WorldQuant BRAIN operators, with the limit as an argument",
  costNs: () => 12,
  initialState: () => [Number.NaN],
  nullWhere: {
    infinite_state: (_cells, _settings, [y]) => Math.abs(y) === Infinity,
    infinite_input: ([x, limit], _settings, [y]) => limit === -Infinity && x === y,
  },
  reference: ([x, limit], _settings, state) => {
    let y = state[0];
    const change = x - y;
    if (Number.isNaN(y) && !Number.isNaN(limit)) y = x;
    else if (Math.abs(change) >= limit) y += Math.sign(change) * limit;
    state[0] = y;
    return y;
  },
  lower: (on, [x, limit], _settings, state) => {
    const y = state[0];
    const change = on.sub(x, y);
    const [zero, one, minusOne] = [on.number(0), on.number(1), on.number(-1)];
    const upOrNone = on.keepOrZero(on.gt(change, zero), one);
    const sign = on.select(on.lt(change, zero), minusOne, upOrNone);
    const moved = on.add(y, on.mul(sign, limit));
    const isFar = on.ge(on.abs(change), limit);
    const isSeed = on.andNot(on.isNull(y), on.isNull(limit));
    const value = on.select(isSeed, x, on.select(isFar, moved, y));
    return { value, state: [value] };
  },
  examples: [
    { formula: "limit_change(x, 1.5)", inputs: { x: [5, 2, null, 3, 9] }, output: [5, 3.5, 3.5, 3.5, 5] },
    {
      formula: "limit_change(x, y)",
      inputs: { x: [null, 1, 2, 2, 2], y: [1, 1, null, 2, 1] },
      output: [null, 1, 1, 1, 2],
    },
  ],
});
