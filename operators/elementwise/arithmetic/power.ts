import type { Arithmetic } from "../../../src/elementary/arithmetic.ts";
import { power } from "../../../src/elementary/power.ts";
import { scalarArithmetic } from "../../../src/elementary/scalar.ts";
import { defineOperator } from "../../../src/operator/definition.ts";

/**
 * A power, with products for the exponents 2 and 3: they are what formulas mean by `x^2`, and they cost a twentieth of
 * a general power. The rule looks at the value of the exponent, not at how it is written, so a literal 2 and a series of
 * twos agree to the last bit. (Exponent 1 needs no rule: a power that is a double is exact.)
 */
export function withProducts<V, M>(on: Arithmetic<V, M>, x: V, a: V, general: V): V {
  const square = on.mul(x, x);
  const orCube = on.select(on.eq(a, on.number(3)), on.mul(square, x), general);
  return on.select(on.eq(a, on.number(2)), square, orCube);
}

/** The power where the exponent is known to be 2 or 3, else null. */
export function productOf<V, M>(on: Arithmetic<V, M>, x: V, a: number | null): V | null {
  if (a !== 2 && a !== 3) return null;
  const square = on.mul(x, x);
  return a === 2 ? square : on.mul(square, x);
}

/** `x` to the power `a`. */
export function raise<V, M>(on: Arithmetic<V, M>, x: V, a: V): V {
  return withProducts(on, x, a, power(on, x, a));
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
  unit: "other",
  summary:
    "Value of x to the power a, within 0.67 ulp (0.75 where the result is subnormal); exponents 1, 2 and 3 are x, x * x " +
    "and (x * x) * x; the same bits on every machine.",
  nulls: "Null if either value is null, and for a negative finite x with an exponent that is not whole.",
  source: "IEEE 754 pow; x^a of Kakushadze (2015), arXiv:1601.00991",
  laws: ["x ^ 1 = x", "x ^ 2 = x * x", "x ^ 3 = x * x * x"],
  costNs: () => 20,
  codeNs: () => 12,
  nullWhere: {
    // 0 to a negative power is infinite.
    domain: (x, a) =>
      x === 0 ? a < 0 : x < 0 && Number.isFinite(x) && Number.isFinite(a) && !Number.isInteger(a),
  },
  reference: (x, a) => raise(scalarArithmetic, x, a),
  lower: (on, x, a) => productOf(on, x, on.constantOf(a)) ?? on.outline("power", raise, x, a),
  examples: [
    { formula: "x ^ 3", inputs: { x: [2, -1.1, null] }, output: [8, -1.3310000000000004, null] },
    {
      formula: "x ^ y",
      inputs: { x: [4, 2, 0, -8, 0, null], y: [0.5, -1, -1, 0.5, 0, 0] },
      output: [2, 0.5, Infinity, null, 1, null],
    },
  ],
});
