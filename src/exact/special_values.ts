/**
 * Values that need no arithmetic: equal ones, and infinities. Infinities have no exact arithmetic: a statistic of
 * values that include one depends on the infinities alone, never on the order of the values.
 */

/** True if all values are one finite number. */
export function isConstant(values: Float64Array): boolean {
  const first = values[0] as number;
  for (let i = 1; i < values.length; i++) if (values[i] !== first) return false;
  return Number.isFinite(first);
}

export function hasInfinity(values: Float64Array): boolean {
  for (let i = 0; i < values.length; i++) if (isInfinite(values[i] as number)) return true;
  return false;
}

/** The sum of values that include an infinity: that infinity, NaN if both signs occur. */
export function infiniteSum(values: Float64Array): number {
  return values.filter(isInfinite).reduce((sum, value) => sum + value, 0);
}

/** The product of values that include an infinity: an infinity of the product's sign, NaN if a zero occurs. */
export function infiniteProduct(values: Float64Array): number {
  return values.reduce((product, value) => product * Math.sign(value), Number.POSITIVE_INFINITY);
}

function isInfinite(value: number): boolean {
  return Math.abs(value) === Number.POSITIVE_INFINITY;
}
