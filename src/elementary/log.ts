import type { Arithmetic } from "./arithmetic.ts";
import { mantissasFrom, type Scientific, split } from "./binary_exponent.ts";
import { LN2_HIGH, LN2_LOW } from "./ln2.ts";
import { polynomial } from "./polynomial.ts";

/** From 0.6875 to 1.375: the logarithms on both sides of 0 are of about the same size. */
export const MANTISSAS = mantissasFrom(0x3fe6_0000_0000_0000n);

/**
 * `(2 atanh(u / 2) - u) / u^3 = 1/12 + u^2/80 + u^4/448 + ...` by powers of u^2, for |u| <= 0.3704: the minimax
 * polynomial for the error relative to u, 2^-57.7. Found as in exp.ts, the first four coefficients rounded one by one.
 */
const TAIL = [
  0.08333333333333584, 0.01249999999953485, 0.002232142886296215, 0.00043402691274488283,
  8.879210309853255e-5, 1.8661484785608893e-5, 4.59459408013342e-6,
];

/** A value as a double and a much smaller one, to be added. */
export interface Sum<V> {
  readonly high: V;
  readonly low: V;
}

/**
 * `ln(mantissa * 2^exponent)` for a mantissa from 0.6875 to 1.375.
 *
 * With f = mantissa - 1 and u = 2f / (2 + f), ln(1 + f) = 2 atanh(u / 2) = u + u^3 / 12 + ... The rounding error of u
 * follows from u (2 + f) = 2f without a second division.
 */
export function logarithm<V, M>(on: Arithmetic<V, M>, { mantissa, exponent }: Scientific<V>): Sum<V> {
  const f = on.sub(mantissa, on.number(1));
  const inverse = on.div(on.number(2), on.add(mantissa, on.number(1)));
  const u = on.mul(f, inverse);
  const rest = on.mul(on.sub(on.sub(f, u), on.mul(u, on.mul(f, on.number(0.5)))), inverse);
  const square = on.mul(u, u);
  const tail = on.add(rest, on.mul(on.mul(u, square), polynomial(on, square, TAIL)));
  const offset = on.mul(exponent, on.number(LN2_HIGH));
  const high = on.add(offset, u);
  const lost = on.sub(u, on.sub(high, offset));
  const low = on.add(lost, on.add(on.mul(exponent, on.number(LN2_LOW)), tail));
  return { high, low };
}

/**
 * `ln x`; -Infinity for 0, NaN below it and for NaN. The largest error among 800,000 arguments from all ranges of
 * test/elementary is 0.644 ulp, near 1.28; far from 1 it is 0.52 ulp.
 */
export function log<V, M>(on: Arithmetic<V, M>, x: V): V {
  const { high, low } = logarithm(on, split(on, x, MANTISSAS));
  const zero = on.number(0);
  const infinity = on.number(Number.POSITIVE_INFINITY);
  const positive = on.select(on.lt(x, infinity), on.add(high, low), x);
  const other = on.select(on.eq(x, zero), on.number(Number.NEGATIVE_INFINITY), on.number(Number.NaN));
  return on.select(on.gt(x, zero), positive, other);
}
