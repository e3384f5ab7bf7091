import { roundRatio, squareRootFloor } from "./dyadic.ts";

/** Bits that must be known of a number before it is rounded to 53, with a wide margin. */
const KNOWN_BITS_MIN = 72;

function bitLengthMin(n: bigint): number {
  return (n < 0n ? -n : n).toString(16).length * 4 - 3;
}

/**
 * The double nearest to `(rational + sign * sqrt(square)) / divisor * 2^exponent`, ties to even, for `square >= 0` and
 * `divisor > 0`.
 *
 * A root that is not whole is irrational. Scaled by 2^shift, the numerator then lies strictly between two neighbouring
 * integers. Where these have more bits than a double and the divisor together, no double and no midpoint of two doubles
 * lies between them (times the divisor it would be an integer), so every number in between rounds alike: we take
 * the middle.
 */
export function roundQuadratic(
  rational: bigint,
  sign: 1n | -1n,
  square: bigint,
  divisor: bigint,
  exponent: number,
): number {
  const whole = squareRootFloor(square);
  if (whole * whole === square) return roundRatio(rational + sign * whole, divisor, exponent);
  const bitsNeeded = KNOWN_BITS_MIN + divisor.toString(16).length * 4;
  for (let shift = bitsNeeded; ; shift *= 2) {
    const root = squareRootFloor(square << BigInt(2 * shift));
    const numerator = (rational << BigInt(shift)) + sign * root;
    if (bitLengthMin(numerator) < bitsNeeded) continue;
    return roundRatio(2n * numerator + sign, 2n * divisor, exponent - shift);
  }
}
