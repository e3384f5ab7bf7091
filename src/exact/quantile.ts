import { certifiedNumber } from "./certified.ts";

/**
 * Order statistics: the exact interpolated value, rounded once to the nearest double. Infinities are ordinary values:
 * they sort to the ends, and a finite share of an infinity is that infinity. An exact zero is +0.
 */

/**
 * The `q`-quantile of the values `[n]`, which are sorted in place: linear between the two values around position `q *
 * (n - 1)`, computed in doubles; NaN for q outside 0..1.
 */
export function exactQuantile(values: Float64Array, q: number): number {
  if (!(q >= 0 && q <= 1)) return Number.NaN;
  values.sort();
  const position = q * (values.length - 1);
  const index = Math.floor(position);
  const below = values[index] as number;
  const share = position - index; // exact
  return share === 0 ? below + 0 : interpolate(below, values[index + 1] as number, share);
}

/** The median of the values `[n]`, which are sorted in place: the mean of the two middle values if n is even. */
export function exactMedian(values: Float64Array): number {
  return exactQuantile(values, 0.5);
}

/** `below + (above - below) * share` for `below <= above` and `0 < share < 1`. */
function interpolate(below: number, above: number, share: number): number {
  if (below === above) return below + 0;
  // Both weights are positive: one infinity is the result, two of opposite sign give NaN.
  if (!Number.isFinite(below) || !Number.isFinite(above)) return below + above;
  if (share === 0.5) return halfWay(below, above);
  return certifiedNumber((exactly) => exactly(above, -below).times(share).plus(below));
}

/** `(below + above) / 2`: one of the sum and the halving is exact, also near the largest and the subnormal doubles. */
function halfWay(below: number, above: number): number {
  const sum = below + above;
  return Number.isFinite(sum) ? sum / 2 : below / 2 + above / 2;
}
