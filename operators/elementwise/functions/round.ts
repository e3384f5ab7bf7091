import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "round",
  axis: "elementwise",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "same",
  summary: "Nearest whole number; a value half-way between two of them goes to the even one.",
  nulls: "Null if the value is null.",
  source: "IEEE 754 roundToIntegralTiesToEven; numpy.round and pandas Series.round()",
  costNs: () => 3,
  nullWhere: {},
  reference: (x) => {
    const magnitude = Math.abs(x);
    // From 2^52 on every double is whole; below, the sum has no bits left for a fraction and IEEE rounds it to even.
    const rounded = magnitude < 2 ** 52 ? magnitude + 2 ** 52 - 2 ** 52 : magnitude;
    return x < 0 ? -rounded : rounded;
  },
  lower: (on, x) => {
    const magnitude = on.abs(x);
    const shift = on.number(2 ** 52);
    const nearest = on.sub(on.add(magnitude, shift), shift);
    const rounded = on.select(on.lt(magnitude, shift), nearest, magnitude);
    return on.select(on.lt(x, on.number(0)), on.neg(rounded), rounded);
  },
  examples: [
    { formula: "round(x)", inputs: { x: [0.5, 1.5, 2.5, -1.5, null] }, output: [0, 2, 2, -2, null] },
    {
      formula: "round(x)",
      inputs: { x: [0.49999999999999994, 2.5000000000000004, -0.3, 9007199254740991, Infinity] },
      output: [0, 3, -0, 9007199254740991, Infinity],
    },
  ],
});
