import type { Arithmetic } from "./arithmetic.ts";
import { type Rounded, roundForScale, scale } from "./binary_exponent.ts";
import { LN2_HIGH, LN2_LOW } from "./ln2.ts";
import { polynomial } from "./polynomial.ts";

/** Below the first the exponential is 0, above the second Infinity. */
const ARGUMENT_MIN = -750;
const ARGUMENT_MAX = 710;

/**
 * `(e^r - 1 - r) / r^2` by powers of r, for |r| <= ln(2) / 2: the minimax polynomial for the relative error of e^r,
 * 2^-63.7. Found by Remez' exchange (1934) in 240 bits; the first coefficient is fixed at 1/2, the next four are
 * rounded to doubles one after another, and the others are fitted again each time.
 */
const TAIL = [
  0.5, 0.16666666666666682, 0.04166666666666649, 0.008333333333317447, 0.0013888888888979906,
  0.00019841269895846242, 2.480158714403882e-5, 2.755723513863558e-6, 2.7557419362675074e-7,
  2.5111989073467803e-8, 2.0872228244125787e-9,
];

/** `e^r - 1 - r` for |r| <= ln(2) / 2. */
export function exponentialTail<V, M>(on: Arithmetic<V, M>, r: V): V {
  return on.mul(on.mul(r, r), polynomial(on, r, TAIL));
}

/**
 * `e^(high + low) * 2^k` for |high| <= ln(2) / 2 and |low| < 2^-30 or so. `1 + high` is rounded once; its rounding
 * error is added to the small parts before their sum is rounded again.
 */
export function scaledExponential<V, M>(on: Arithmetic<V, M>, high: V, low: V, k: Rounded<V>): V {
  const one = on.number(1);
  const tail = exponentialTail(on, high);
  const sum = on.add(one, high);
  const lost = on.sub(high, on.sub(sum, one));
  const small = on.add(on.add(lost, on.mul(low, on.add(sum, tail))), tail);
  return scale(on, on.add(sum, small), k);
}

/**
 * `e^x`; NaN for NaN. The largest error among 1.2 million arguments from all ranges of test/elementary is 0.599 ulp,
 * and 0.759 ulp where the result is subnormal and so rounded twice.
 *
 * x = k ln 2 + r with |r| <= ln(2) / 2 (Cody and Waite, 1980: the larger part of k ln 2 is exact), then e^r 2^k.
 */
export function exp<V, M>(on: Arithmetic<V, M>, x: V): V {
  const raised = on.select(on.lt(x, on.number(ARGUMENT_MIN)), on.number(ARGUMENT_MIN), x);
  const held = on.select(on.gt(raised, on.number(ARGUMENT_MAX)), on.number(ARGUMENT_MAX), raised);
  const k = roundForScale(on, on.mul(held, on.number(Math.LOG2E)));
  const high = on.sub(held, on.mul(k.integer, on.number(LN2_HIGH)));
  const low = on.mul(k.integer, on.number(-LN2_LOW));
  return scaledExponential(on, high, low, k);
}
