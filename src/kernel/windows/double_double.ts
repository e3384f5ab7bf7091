import type { Mask, Value } from "../../operator/lowering.ts";
import type { LaneCode } from "../lane_code.ts";

/**
 * Double-double arithmetic on vectors: a number is the unevaluated sum of two doubles, about 106 bits.
 * Sources: Dekker (1971), A floating-point technique for extending the available precision; Joldes, Muller, Popescu
 * (2017), Tight and rigorous error bounds for basic building blocks of double-word arithmetic.
 */
export interface Pair {
  readonly high: Value;
  readonly low: Value;
}

/** Every operation below is off by at most this share of its result, or of its largest operand for sums. */
export const PAIR_ERROR = 2 ** -102;

/** `a + b` exactly. */
export function twoSum(on: LaneCode, a: Value, b: Value): Pair {
  const high = on.add(a, b);
  const bRounded = on.sub(high, a);
  const low = on.add(on.sub(a, on.sub(high, bRounded)), on.sub(b, bRounded));
  return { high, low };
}

/** `a + b` exactly, for `abs(a) >= abs(b)`. */
export function quickTwoSum(on: LaneCode, a: Value, b: Value): Pair {
  const high = on.add(a, b);
  return { high, low: on.sub(b, on.sub(high, a)) };
}

/** `a * b` exactly, within the range where no part underflows or overflows. */
export function twoProduct(on: LaneCode, a: Value, b: Value): Pair {
  const high = on.mul(a, b);
  if (on.library.hasFusedMultiply) return { high, low: on.fusedMultiplyAdd(a, b, on.neg(high)) };
  const [aHigh, aLow] = split(on, a);
  const [bHigh, bLow] = a === b ? [aHigh, aLow] : split(on, b);
  const main = on.sub(on.mul(aHigh, bHigh), high);
  const low = on.add(on.add(on.add(main, on.mul(aHigh, bLow)), on.mul(aLow, bHigh)), on.mul(aLow, bLow));
  return { high, low };
}

/** Two halves of at most 26 bits each (Veltkamp). */
function split(on: LaneCode, a: Value): [Value, Value] {
  const scaled = on.mul(a, on.number(2 ** 27 + 1));
  const high = on.sub(scaled, on.sub(scaled, a));
  return [high, on.sub(a, high)];
}

/** `a * n` for a pair and a whole number. */
export function timesNumber(on: LaneCode, a: Pair, n: Value): Pair {
  const product = twoProduct(on, a.high, n);
  return quickTwoSum(on, product.high, on.add(product.low, on.mul(a.low, n)));
}

export function times(on: LaneCode, a: Pair, b: Pair): Pair {
  const product = twoProduct(on, a.high, b.high);
  const cross =
    a === b ? on.mul(on.add(a.high, a.high), a.low) : on.add(on.mul(a.high, b.low), on.mul(a.low, b.high));
  return quickTwoSum(on, product.high, on.add(product.low, cross));
}

export function minus(on: LaneCode, a: Pair, b: Pair): Pair {
  const high = twoSum(on, a.high, on.neg(b.high));
  return quickTwoSum(on, high.high, on.add(high.low, on.sub(a.low, b.low)));
}

/** The exact quotient of an exact pair (`high` its nearest double) and a whole number, rounded once. */
export function roundedQuotient(on: LaneCode, a: Pair, n: Value): Value {
  const quotient = on.div(a.high, n);
  const product = twoProduct(on, quotient, n);
  // The remainder of a division is a double, so neither subtraction rounds.
  const rest = on.add(on.sub(on.sub(a.high, product.high), product.low), a.low);
  const rounded = on.add(quotient, on.div(rest, n));
  // Subnormal quotients and infinities leave no remainder.
  return on.select(on.lt(on.abs(rest), on.number(Number.POSITIVE_INFINITY)), rounded, quotient);
}

export function over(on: LaneCode, a: Pair, b: Pair): Pair {
  const quotient = on.div(a.high, b.high);
  const product = twoProduct(on, quotient, b.high);
  const rest = on.add(
    on.sub(on.sub(a.high, product.high), product.low),
    on.sub(a.low, on.mul(quotient, b.low)),
  );
  return quickTwoSum(on, quotient, on.div(rest, b.high));
}

export function squareRoot(on: LaneCode, a: Pair): Pair {
  const root = on.sqrt(a.high);
  const square = twoProduct(on, root, root);
  const rest = on.add(on.sub(on.sub(a.high, square.high), square.low), a.low);
  return quickTwoSum(on, root, on.div(rest, on.add(root, root)));
}

/** Where every number within `error` of the pair rounds to its nearest double. */
export function isCertain(on: LaneCode, { high, low }: Pair, error: Value): Mask {
  return on.eq(on.add(high, on.sub(low, error)), on.add(high, on.add(low, error)));
}
