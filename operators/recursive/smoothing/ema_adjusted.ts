import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "ema_adjusted",
  aliases: { qlib: ["ema"] },
  axis: "recursive",
  parameters: [
    { name: "x", kind: "series" },
    { name: "n", kind: "window" },
  ],
  result: "series",
  unit: "same",
  summary:
    "Mean of all values so far with the weights (1 - a)^k for the value k rows ago, a = 2 / (n + 1), in " +
    "the IEEE order of pandas.",
  nulls:
    "Null until the first value; at a null the last result is carried over while the weights of earlier " +
    "values decay; an infinity never leaves it.",
  source: "EMA of qlib: pandas Series.ewm(span=n, min_periods=1, adjust=True, ignore_na=False).mean()",
  costNs: () => 15,
  // The last result, and the weight of all values so far together.
  initialState: () => [Number.NaN, 0],
  nullWhere: {
    // The weighted sum of the values so far may overflow though their mean is finite.
    infinite_state: ([value], { n }, [y, state]) => {
      const weight = state * (1 - 2 / (n + 1));
      const isKept = Number.isNaN(value) || value === y;
      return weight !== 0 && !Number.isFinite(isKept ? y : weight * y);
    },
  },
  reference: ([value], { n }, state) => {
    const y = state[0];
    const weight = state[1] * (1 - 2 / (n + 1)); // as seen from the current row
    state[1] = weight;
    if (Number.isNaN(value)) return y;
    state[1] = weight + 1;
    // A mean of equal values is that value, to the last bit.
    if (weight !== 0 && y === value) return y;
    const next = weight === 0 ? value : (weight * y + value) / (weight + 1);
    state[0] = next;
    return next;
  },
  lower: (on, [value], { n }, state) => {
    const y = state[0];
    const weight = on.mul(state[1], on.number(1 - 2 / (n + 1)));
    const total = on.add(weight, on.number(1));
    const isNull = on.isNull(value);
    const isFirst = on.eq(weight, on.number(0));
    const mean = on.div(on.add(on.mul(weight, y), value), total);
    const isLast = on.or(isNull, on.andNot(on.eq(y, value), isFirst));
    const next = on.select(isLast, y, on.select(isFirst, value, mean));
    return { value: next, state: [next, on.select(isNull, weight, total)] };
  },
  examples: [
    {
      formula: "ema_adjusted(x, 3)",
      inputs: { x: [null, 1, 2, null, 4] },
      output: [null, 1, 1.6666666666666667, 1.6666666666666667, 3.3636363636363638],
    },
    {
      formula: "ema_adjusted(x, 2)",
      inputs: { x: [0.1, 0.1, 0.1, 4] },
      output: [0.1, 0.1, 0.1, 2.7325],
    },
    { formula: "ema_adjusted(x, 1)", inputs: { x: [3, null, 5] }, output: [3, 3, 5] },
  ],
});
