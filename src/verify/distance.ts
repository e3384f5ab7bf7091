/** True for the same bits; there is one NaN. */
export function isSameValue(a: number, b: number): boolean {
  return a === b ? a !== 0 || Object.is(a, b) : Number.isNaN(a) && Number.isNaN(b);
}

/** `|a - b|` by the larger of their magnitudes, for finite values: 0..2. */
export function relativeDistance(a: number, b: number): number {
  const scale = Math.max(Math.abs(a), Math.abs(b));
  if (scale === 0) return 0;
  const distance = Math.abs(a - b);
  // Opposite values of the largest magnitude: only their halves can be subtracted.
  return Number.isFinite(distance) ? distance / scale : 2 * (Math.abs(a / 2 - b / 2) / scale);
}

/** Doubles from one value to the other, for finite values: neighbours are 1 apart, the two zeros 0. */
export function ulpDistance(a: number, b: number): number {
  const distance = ordinalOf(a) - ordinalOf(b);
  return Number(distance < 0n ? -distance : distance);
}

const value = new Float64Array(1);
const bits = new BigInt64Array(value.buffer);
const NEGATIVE_ZERO_BITS = -(2n ** 63n);

/** Whole numbers in the order of the doubles, 0 for both zeros. */
function ordinalOf(number: number): bigint {
  value[0] = number;
  const pattern = bits[0] as bigint;
  return pattern < 0n ? NEGATIVE_ZERO_BITS - pattern : pattern;
}
