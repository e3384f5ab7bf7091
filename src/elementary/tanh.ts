import type { Arithmetic } from "./arithmetic.ts";
import { powerOfTwo, roundForPower } from "./binary_exponent.ts";
import { exponentialTail } from "./exp.ts";
import { BEHIND_26, leadingBits } from "./leading_bits.ts";
import { LN2_HIGH, LN2_LOW } from "./ln2.ts";

/** From here on the hyperbolic tangent is 1 to the last bit. */
const ARGUMENT_MAX = 19.1;

/** `1 + 2^k` is not exact for smaller k; the series then needs little precision. */
const EXPONENT_MIN = -52;

/** `e^u = power * (1 + high + rest)`, the first two exact. */
interface Exponential<V> {
  readonly power: V;
  readonly high: V;
  readonly rest: V;
}

/** For -40 <= u <= 0. */
function exponential<V, M>(on: Arithmetic<V, M>, u: V): Exponential<V> {
  const quotient = on.mul(u, on.number(Math.LOG2E));
  const least = on.number(EXPONENT_MIN);
  const k = roundForPower(on, on.select(on.lt(quotient, least), least, quotient));
  const high = on.sub(u, on.mul(k.integer, on.number(LN2_HIGH)));
  const low = on.mul(k.integer, on.number(LN2_LOW));
  const rest = on.sub(exponentialTail(on, on.sub(high, low)), low);
  return { power: powerOfTwo(on, k), high, rest };
}

/**
 * `(1 - e^u) / (1 + e^u)`. A first quotient is truncated to 26 bits; its product with the first 26 bits of the
 * denominator is then exact, and the remaining numerator gives the rest of the quotient.
 */
function quotientOfOne<V, M>(on: Arithmetic<V, M>, { power, high, rest }: Exponential<V>): V {
  const one = on.number(1);
  const above = on.sub(one, power);
  const below = on.add(one, power);
  const large = on.mul(power, high);
  const small = on.mul(power, rest);
  const both = on.add(large, small);
  const denominator = on.add(below, both);
  const inverse = on.div(one, denominator);
  const quotient = leadingBits(on, on.mul(on.sub(above, both), inverse), BEHIND_26);
  const head = leadingBits(on, denominator, BEHIND_26);
  const tail = on.add(on.add(on.sub(below, head), large), small);
  const remainder = on.sub(on.sub(above, on.mul(quotient, head)), large);
  const remainderTail = on.add(small, on.mul(quotient, tail));
  return on.add(quotient, on.mul(on.sub(remainder, remainderTail), inverse));
}

/**
 * `tanh x`, with the sign of x; NaN for NaN. The largest error among one million arguments from all ranges of
 * test/elementary is 0.805 ulp, near 0.2.
 */
export function tanh<V, M>(on: Arithmetic<V, M>, x: V): V {
  const magnitude = on.abs(x);
  const limit = on.number(ARGUMENT_MAX);
  const held = on.select(on.gt(magnitude, limit), limit, magnitude);
  const value = quotientOfOne(on, exponential(on, on.mul(held, on.number(-2))));
  return on.orBits(value, on.andBits(x, on.number(-0)));
}
