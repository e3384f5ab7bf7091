import { MAGNITUDES } from "../exact/magnitudes.ts";
import type { Mask, StepBuilder, Value } from "../operator/lowering.ts";

/**
 * Double-double arithmetic on vectors: a number is the unevaluated sum of two doubles, about 106 bits. Sources: Dekker
 * (1971), A floating-point technique for extending the available precision; Joldes, Muller, Popescu (2017), Tight and
 * rigorous error bounds for basic building blocks of double-word arithmetic.
 */
export interface Pair {
  readonly high: Value;
  readonly low: Value;
}

/** A number within `error` of its pair. */
export interface BoundedPair extends Pair {
  readonly error: Value;
}

/** Relative error bound of every operation below; for sums relative to the largest operand. */
export const PAIR_ERROR = 2 ** -100;

/** `a + b` exactly. */
export function twoSum(on: StepBuilder, a: Value, b: Value): Pair {
  const high = on.add(a, b);
  const bRounded = on.sub(high, a);
  const low = on.add(on.sub(a, on.sub(high, bRounded)), on.sub(b, bRounded));
  return { high, low };
}

/** `a - b` exactly. */
export function twoDifference(on: StepBuilder, a: Value, b: Value): Pair {
  const high = on.sub(a, b);
  const bRounded = on.sub(high, a);
  const low = on.sub(on.sub(a, on.sub(high, bRounded)), on.add(b, bRounded));
  return { high, low };
}

/** `a + b` exactly, for `abs(a) >= abs(b)`. */
export function quickTwoSum(on: StepBuilder, a: Value, b: Value): Pair {
  const high = on.add(a, b);
  return { high, low: on.sub(b, on.sub(high, a)) };
}

/** `a - b` exactly, for `abs(a) >= abs(b)`. */
export function quickTwoDifference(on: StepBuilder, a: Value, b: Value): Pair {
  const high = on.sub(a, b);
  return { high, low: on.sub(on.sub(a, high), b) };
}

/** `a * b` is exactly `high - excess`, unless a part underflows or overflows. */
export function twoProduct(on: StepBuilder, a: Value, b: Value): { high: Value; excess: Value } {
  const high = on.mul(a, b);
  if (on.fusesMultiply) return { high, excess: on.fusedMultiplySubtract(a, b, high) };
  const [aHigh, aLow] = split(on, a);
  const [bHigh, bLow] = a === b ? [aHigh, aLow] : split(on, b);
  const main = on.sub(high, on.mul(aHigh, bHigh));
  const cross = on.sub(on.sub(main, on.mul(aHigh, bLow)), on.mul(aLow, bHigh));
  return { high, excess: on.sub(cross, on.mul(aLow, bLow)) };
}

/** `c - a * b` without loss, where `a * b` agrees with `c` in nearly all its bits. */
export function residual(on: StepBuilder, c: Value, a: Value, b: Value): Value {
  if (on.fusesMultiply) return on.fusedMultiplySubtract(a, b, c);
  const { high, excess } = twoProduct(on, a, b);
  return on.add(on.sub(c, high), excess);
}

/** Two halves of at most 26 bits each (Veltkamp). */
function split(on: StepBuilder, a: Value): [Value, Value] {
  const scaled = on.mul(a, on.number(2 ** 27 + 1));
  const high = on.sub(scaled, on.sub(scaled, a));
  return [high, on.sub(a, high)];
}

/** `a * n` for a pair and a double. */
export function timesNumber(on: StepBuilder, a: Pair, n: Value): Pair {
  const { high, excess } = twoProduct(on, a.high, n);
  return quickTwoSum(on, high, on.sub(on.mul(a.low, n), excess));
}

export function times(on: StepBuilder, a: Pair, b: Pair): Pair {
  const { high, excess } = twoProduct(on, a.high, b.high);
  const cross =
    a === b ? on.mul(on.add(a.high, a.high), a.low) : on.add(on.mul(a.high, b.low), on.mul(a.low, b.high));
  return quickTwoSum(on, high, on.sub(cross, excess));
}

/** The exact quotient of an exact pair (`high` its nearest double) and a whole number, rounded once. */
export function roundedQuotient(on: StepBuilder, a: Pair, n: Value): Value {
  const quotient = on.div(a.high, n);
  // The remainder of a division is a double, so only the sum with the low part rounds.
  const rest = on.add(residual(on, a.high, quotient, n), a.low);
  const rounded = on.add(quotient, on.div(rest, n));
  // Infinities leave no remainder.
  return on.select(on.lt(on.abs(rest), on.number(Number.POSITIVE_INFINITY)), rounded, quotient);
}

/** `a / n` for a double whose inverse is given. */
export function overNumber(on: StepBuilder, a: Pair, n: Value, inverse: Value): Pair {
  const quotient = on.mul(a.high, inverse);
  const rest = on.add(residual(on, a.high, quotient, n), a.low);
  return quickTwoSum(on, quotient, on.mul(rest, inverse));
}

export function difference(on: StepBuilder, a: Pair, b: Pair): Pair {
  const { high, low } = twoDifference(on, a.high, b.high);
  return twoSum(on, high, on.add(low, on.sub(a.low, b.low)));
}

/** @param inverse that of `b.high` */
export function over(on: StepBuilder, a: Pair, b: Pair, inverse = on.div(on.number(1), b.high)): Pair {
  const quotient = on.mul(a.high, inverse);
  const rest = on.add(residual(on, a.high, quotient, b.high), on.sub(a.low, on.mul(quotient, b.low)));
  return quickTwoSum(on, quotient, on.mul(rest, inverse));
}

/** The square root of a pair, and half the inverse of its high part. */
export function squareRoot(on: StepBuilder, a: Pair): Pair & { readonly halfInverse: Value } {
  const root = on.sqrt(a.high);
  const halfInverse = on.mul(root, on.div(on.number(0.5), a.high));
  const rest = on.add(residual(on, a.high, root, root), a.low);
  return { ...quickTwoSum(on, root, on.mul(rest, halfInverse)), halfInverse };
}

/** True where every number within `error` of the pair rounds to its nearest double. */
export function isCertain(on: StepBuilder, { high, low }: Pair, error: Value): Mask {
  return on.eq(on.add(high, on.sub(low, error)), on.add(high, on.add(low, error)));
}

/** True for magnitudes far from the ends of the range, where no part of a pair is lost. */
export function isOrdinary(on: StepBuilder, size: Value): Mask {
  return on.and(on.gt(size, on.number(MAGNITUDES.pairMin)), on.lt(size, on.number(MAGNITUDES.pairMax)));
}

export function negated(on: StepBuilder, { high, low, error }: BoundedPair): BoundedPair {
  return { high: on.neg(high), low: on.neg(low), error };
}
