import { defineOperator } from "../../../src/operator/definition.ts";
import { lowerRecur, recur, UNSEEDED } from "./ema.ts";

export const operator = defineOperator({
  name: "sma_cn",
  aliases: { gtja191: ["sma"] },
  axis: "recursive",
  parameters: [
    { name: "x", kind: "series" },
    { name: "n", kind: "window" },
    { name: "m", kind: "constant" },
  ],
  result: "series",
  unit: "same",
  summary:
    "Moving average (m * x + (n - m) * y) / n of the value x and the last result y, seeded by the first value.",
  nulls:
    "Null until the first value; at a null the last result is carried over; null everywhere unless 0 < m " +
    "<= n; an infinity never leaves it.",
  source:
    "SMA(A, n, m) of Guotai Junan Securities (2017), 191 short-period price-volume alphas, and of the " +
    "Tongdaxin formula language",
  costNs: () => 10,
  initialState: () => UNSEEDED,
  reference: ([x], settings, state) => {
    const { n, m } = settings as { n: number; m: number };
    if (!(m > 0 && m <= n)) return Number.NaN;
    return recur(x, state, (y, value) => (m * value + (n - m) * y) / n);
  },
  lower: (on, [x], settings, state) => {
    const { n, m } = settings as { n: number; m: number };
    if (!(m > 0 && m <= n)) return { value: on.number(Number.NaN), state };
    return lowerRecur(on, x, state, (y, value) => {
      const sum = on.add(on.mul(on.number(m), value), on.mul(on.number(n - m), y));
      return on.div(sum, on.number(n));
    });
  },
  examples: [
    {
      formula: "sma_cn(x, 3, 1)",
      inputs: { x: [null, 3, 6, null, 0] },
      output: [null, 3, 4, 4, 2.6666666666666665],
    },
    {
      formula: "sma_cn(x, 4, 2)",
      inputs: { x: [1, 2, 4, Infinity, 4] },
      output: [1, 1.5, 2.75, Infinity, Infinity],
    },
    { formula: "sma_cn(x, 2, 3)", inputs: { x: [1, 2] }, output: [null, null] },
  ],
});
