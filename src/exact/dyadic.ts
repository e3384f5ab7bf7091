/**
 * Exact arithmetic on doubles with BigInt. Every finite double is an integer times a power of two, so sums and products
 * of doubles are exact integers once they share an exponent. Slow and simple: the definition of every statistic, and
 * the fallback where double-double arithmetic cannot prove the last bit.
 */

const EXPONENT_MIN = -1074; // of the smallest subnormal

const bits = new DataView(new ArrayBuffer(8));

/** `x = integer * 2^exponent` exactly, for finite x. */
export function decompose(x: number): { integer: bigint; exponent: number } {
  bits.setFloat64(0, x);
  const high = bits.getUint32(0);
  const biased = (high >>> 20) & 0x7ff;
  const fraction = (BigInt(high & 0xfffff) << 32n) | BigInt(bits.getUint32(4));
  const size = biased === 0 ? fraction : fraction | (1n << 52n);
  return { integer: high >>> 31 ? -size : size, exponent: Math.max(biased, 1) - 1075 };
}

/** The values as integers over one shared exponent: `values[i] = integers[i] * 2^exponent`. */
export function alignExponents(values: Float64Array): { integers: bigint[]; exponent: number } {
  const parts = Array.from(values, decompose).map((part) =>
    part.integer === 0n ? { integer: 0n, exponent: Number.POSITIVE_INFINITY } : part,
  );
  const exponent = parts.reduce((least, part) => Math.min(least, part.exponent), Number.POSITIVE_INFINITY);
  if (exponent === Number.POSITIVE_INFINITY) return { integers: parts.map(() => 0n), exponent: 0 };
  const integers = parts.map((part) =>
    part.integer === 0n ? 0n : part.integer << BigInt(part.exponent - exponent),
  );
  return { integers, exponent };
}

export function magnitude(n: bigint): bigint {
  return n < 0n ? -n : n;
}

function bitLength(n: bigint): number {
  const hex = n.toString(16);
  return hex.length * 4 - (Math.clz32(Number.parseInt(hex[0] as string, 16)) - 28);
}

/**
 * The double nearest to `(magnitude + tail) * 2^exponent`, ties to even, where `0 < tail < 1` if `hasTail` and
 * `tail = 0` otherwise. A magnitude with a tail must have at least 56 bits.
 */
function roundMagnitude(magnitude: bigint, exponent: number, hasTail: boolean): number {
  // Truncates to the 53 bits of the result and two more (fewer near the subnormals).
  const cut = Math.max(bitLength(magnitude) - 55, EXPONENT_MIN - 2 - exponent);
  const integer = cut > 0 ? magnitude >> BigInt(cut) : magnitude << BigInt(-cut);
  const isInexact = hasTail || (cut > 0 && integer << BigInt(cut) !== magnitude);
  const kept = integer >> 2n;
  const eighths = Number(integer & 3n) * 2 + (isInexact ? 1 : 0); // the truncated bits, rounded to odd
  const roundsUp = eighths > 4 || (eighths === 4 && (kept & 1n) === 1n);
  return scale(Number(roundsUp ? kept + 1n : kept), exponent + cut + 2);
}

/** `x * 2^exponent` without intermediate overflow or underflow; exact unless the result itself overflows. */
function scale(x: number, exponent: number): number {
  let value = x;
  let rest = exponent;
  for (; rest > 1000; rest -= 1000) value *= 2 ** 1000;
  for (; rest < -1000; rest += 1000) value *= 2 ** -1000;
  return value * 2 ** rest;
}

/** The double nearest to `numerator / denominator * 2^exponent`, ties to even; +0 for zero. */
export function roundRatio(numerator: bigint, denominator: bigint, exponent: number): number {
  if (numerator === 0n) return 0;
  const negative = numerator < 0n !== denominator < 0n;
  const [n, d] = [magnitude(numerator), magnitude(denominator)];
  const shift = Math.max(0, 64 + bitLength(d) - bitLength(n));
  const shifted = n << BigInt(shift);
  const quotient = shifted / d;
  const rounded = roundMagnitude(quotient, exponent - shift, quotient * d !== shifted);
  return negative ? -rounded : rounded;
}

/** The double nearest to `sqrt(numerator / denominator * 2^exponent)`, ties to even, for a ratio >= 0. */
export function roundSquareRoot(numerator: bigint, denominator: bigint, exponent: number): number {
  if (numerator === 0n) return 0;
  let shift = Math.max(0, 128 + bitLength(denominator) - bitLength(numerator));
  if ((exponent - shift) % 2 !== 0) shift += 1; // the square root halves the exponent
  const shifted = numerator << BigInt(shift);
  const quotient = shifted / denominator;
  const root = squareRootFloor(quotient);
  const hasTail = root * root !== quotient || quotient * denominator !== shifted;
  return roundMagnitude(root, (exponent - shift) / 2, hasTail);
}

/** The largest integer whose square is at most n, by Newton's iteration from above. */
function squareRootFloor(n: bigint): bigint {
  if (n < 2n) return n;
  let root = 1n << BigInt(Math.ceil(bitLength(n) / 2));
  for (;;) {
    const next = (root + n / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

export function sumOfIntegers(integers: readonly bigint[]): bigint {
  return integers.reduce((sum, integer) => sum + integer, 0n);
}

/** `sum(x[i] * y[i])`. */
export function dotIntegers(x: readonly bigint[], y: readonly bigint[]): bigint {
  return x.reduce((sum, integer, i) => sum + integer * (y[i] as bigint), 0n);
}

/** Bits that must be known of a number before it is rounded to 53, with a wide margin. */
const KNOWN_BITS_MIN = 72;

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
    if (bitLength(magnitude(numerator)) < bitsNeeded) continue;
    return roundRatio(2n * numerator + sign, 2n * divisor, exponent - shift);
  }
}
