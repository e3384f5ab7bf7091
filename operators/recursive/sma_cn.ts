import { defineOperator } from "../../src/operator/definition.ts";
import { recur } from "./ema.ts";

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
  reference: ([x], { n, m }, output) => {
    const [rows, weight] = [n as number, m as number];
    if (weight > 0 && weight <= rows) {
      recur(x as Float64Array, output, (y, value) => (weight * value + (rows - weight) * y) / rows);
    } else output.fill(Number.NaN);
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
