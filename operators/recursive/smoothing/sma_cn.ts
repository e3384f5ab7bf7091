import { defineOperator } from "../../../src/operator/definition.ts";
import { lowerRecur, recur, staysInfinite, UNSEEDED } from "./ema.ts";

const isAllowed = (n: number, m: number): boolean => m > 0 && m <= n;

const mixed = (x: number, y: number, n: number, m: number): number => (m * x + (n - m) * y) / n;

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
  nullWhere: {
    setting_out_of_range: (_cells, { n, m }) => !isAllowed(n, m),
    infinite_state: staysInfinite,
    infinite_input: ([x], { n, m }, [y]) => Math.abs(x) === Infinity && Number.isNaN(mixed(x, y, n, m)),
    // Of large x and y of opposite signs the products are infinities of both signs.
    overflow: ([x], { n, m }, [y]) =>
      Number.isFinite(x) && Number.isFinite(y) && Number.isNaN(mixed(x, y, n, m)),
  },
  reference: ([x], settings, state) => {
    const { n, m } = settings as { n: number; m: number };
    if (!isAllowed(n, m)) return Number.NaN;
    return recur(x, state, (y, value) => mixed(value, y, n, m));
  },
  lower: (on, [x], settings, state) => {
    const { n, m } = settings as { n: number; m: number };
    if (!isAllowed(n, m)) return { value: on.number(Number.NaN), state };
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
