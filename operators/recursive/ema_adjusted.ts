import { defineOperator } from "../../src/operator/definition.ts";

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
  reference: ([x], { n }, output) => {
    const decay = 1 - 2 / ((n as number) + 1);
    let y = Number.NaN;
    let weight = 0; // of all earlier values together, as seen from the current row
    (x as Float64Array).forEach((value, row) => {
      weight *= decay;
      if (!Number.isNaN(value)) {
        if (weight === 0) y = value;
        // A mean of equal values is that value, to the last bit.
        else if (y !== value) y = (weight * y + value) / (weight + 1);
        weight += 1;
      }
      output[row] = y;
    });
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
