import { defineOperator } from "../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "ema",
  axis: "recursive",
  parameters: [
    { name: "x", kind: "series" },
    { name: "n", kind: "window" },
  ],
  result: "series",
  summary: "Exponential moving average y + a * (x - y) with a = 2 / (n + 1), seeded by the first value.",
  nulls: "Null until the first value; at a null the last result is carried over.",
  source: "pandas Series.ewm(span=n, adjust=False, ignore_na=True).mean()",
  costNs: () => 10,
  reference: ([x], { n }, output) => {
    const alpha = 2 / ((n as number) + 1);
    let y = Number.NaN;
    (x as Float64Array).forEach((value, row) => {
      if (!Number.isNaN(value)) y = Number.isNaN(y) ? value : y + alpha * (value - y);
      output[row] = y;
    });
  },
  examples: [{ formula: "ema(x, 3)", inputs: { x: [null, 4, 6, null, 1] }, output: [null, 4, 5, 5, 3] }],
});
