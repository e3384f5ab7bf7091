import { defineOperator } from "../../src/operator/definition.ts";

/**
 * `x` to the power `a`. Whole exponents up to 3 are products: they are what formulas mean by `x^2`, they cost a
 * twentieth of a general power, and their bits are the same on every machine. The rule looks at the value of the
 * exponent, not at how it is written, so a literal 2 and a series of twos agree to the last bit.
 */
export function raise(x: number, a: number): number {
  if (a === 1) return x;
  if (a === 2) return x * x;
  if (a === 3) return x * x * x;
  // IEEE 754 pow(±1, ±Infinity) is 1, where ECMAScript says NaN.
  if (Math.abs(x) === 1 && Math.abs(a) === Number.POSITIVE_INFINITY) return 1;
  return x ** a;
}

export const operator = defineOperator({
  name: "power",
  symbol: "^",
  axis: "elementwise",
  parameters: [
    { name: "x", kind: "series" },
    { name: "a", kind: "series" },
  ],
  result: "series",
  summary: "Value of x to the power a; exponents 1, 2 and 3 are x, x * x and (x * x) * x.",
  nulls: "Null if either value is null, and for a negative finite x with an exponent that is not whole.",
  source: "IEEE 754 pow; x^a of Kakushadze (2015), arXiv:1601.00991",
  costNs: () => 20,
  reference: raise,
  examples: [
    { formula: "x ^ 3", inputs: { x: [2, -1.1, null] }, output: [8, -1.3310000000000004, null] },
    {
      formula: "x ^ y",
      inputs: { x: [4, 2, 0, -8, 0, null], y: [0.5, -1, -1, 0.5, 0, 0] },
      output: [2, 0.5, Infinity, null, 1, null],
    },
  ],
});
