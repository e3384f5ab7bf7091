/** Whether two values have the same bits; all NaN are equal. */
export function isSameValue(a: number, b: number): boolean {
  return a === b ? a !== 0 || Object.is(a, b) : Number.isNaN(a) && Number.isNaN(b);
}

/** `|a - b|` divided by the larger magnitude, for finite values: 0..2. */
export function relativeDistance(a: number, b: number): number {
  const scale = Math.max(Math.abs(a), Math.abs(b));
  if (scale === 0) return 0;
  const distance = Math.abs(a - b);
  // The difference of large values of opposite sign overflows; that of their halves does not.
  return Number.isFinite(distance) ? distance / scale : 2 * (Math.abs(a / 2 - b / 2) / scale);
}

/** Distance in ulp of finite values: neighbouring doubles are 1 apart, the two zeros 0. */
export function ulpDistance(a: number, b: number): number {
  const distance = ordinalOf(a) - ordinalOf(b);
  return Number(distance < 0n ? -distance : distance);
}

const value = new Float64Array(1);
const bits = new BigInt64Array(value.buffer);
const NEGATIVE_ZERO_BITS = -(2n ** 63n);

/** Maps doubles to integers of the same order, both zeros to 0. */
function ordinalOf(number: number): bigint {
  value[0] = number;
  const pattern = bits[0] as bigint;
  return pattern < 0n ? NEGATIVE_ZERO_BITS - pattern : pattern;
}
