import { defineOperator } from "../../src/operator/definition.ts";

/**
 * Writes `y = step(y, x)` down a lane: seeded by the first value, a null carries the last result over. Plain IEEE
 * arithmetic: a result that is once infinite or undefined stays so.
 */
export function recur(x: Float64Array, output: Float64Array, step: (y: number, x: number) => number): void {
  let y = Number.NaN;
  let isSeeded = false;
  for (let row = 0; row < x.length; row++) {
    const value = x[row] as number;
    if (!Number.isNaN(value)) {
      y = isSeeded ? step(y, value) : value;
      isSeeded = true;
    }
    output[row] = y;
  }
}

export const operator = defineOperator({
  name: "ema",
  axis: "recursive",
  parameters: [
    { name: "x", kind: "series" },
    { name: "n", kind: "window" },
  ],
  result: "series",
  unit: "same",
  summary: "Exponential moving average y + a * (x - y) with a = 2 / (n + 1), seeded by the first value.",
  nulls:
    "Null until the first value; at a null the last result is carried over; null for ever after an infinity.",
  source: "pandas Series.ewm(span=n, adjust=False, ignore_na=True).mean(); TA-Lib EMA, but for its seed",
  costNs: () => 10,
  reference: ([x], { n }, output) => {
    const alpha = 2 / ((n as number) + 1);
    recur(x as Float64Array, output, (y, value) => y + alpha * (value - y));
  },
  examples: [
    { formula: "ema(x, 3)", inputs: { x: [null, 4, 6, null, 1] }, output: [null, 4, 5, 5, 3] },
    { formula: "ema(x, 2)", inputs: { x: [1, 2, 4] }, output: [1, 1.6666666666666665, 3.2222222222222223] },
    { formula: "ema(x, 3)", inputs: { x: [1, Infinity, 1, 1] }, output: [1, Infinity, null, null] },
  ],
});
