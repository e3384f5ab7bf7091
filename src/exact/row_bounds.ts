import { certified, certifiedNumber } from "./certified.ts";
import { low, twoSum } from "./double_double.ts";
import { scaledStd } from "./moments.ts";
import { hasInfinity } from "./special_values.ts";

/** Limits for a row's values computed from the row itself: exact and rounded once. */

/** `factor * sum(abs(values))`; an infinity among the values makes it infinite. */
export function exactMagnitudeShare(values: Float64Array, factor: number): number {
  return certified(
    [values.map(Math.abs)],
    (x) => x.sum().times(factor),
    () => factor * Number.POSITIVE_INFINITY,
  );
}

/** `mean + factor * std` of the values, ddof 1; NaN where std is undefined (n < 2) or infinite. */
export function exactDeviationBound(values: Float64Array, factor: number): number {
  if (values.length < 2) return Number.NaN;
  return certified([values], (x) => x.sum().over(x.count).plus(scaledStd(x).times(factor).over(x.count)));
}

/**
 * `median + factor * scale * (median of the absolute distances from the median)`; NaN if one of the values is infinite.
 * The median of an even number of values is the mean of the two in the middle.
 */
export function exactMedianBound(values: Float64Array, factor: number, scale: number): number {
  const count = values.length;
  if (count === 0 || hasInfinity(values)) return Number.NaN;
  const sorted = values.slice().sort();
  const [left, right] = [sorted[(count - 1) >> 1] as number, sorted[count >> 1] as number];
  const [farther, nearer] = middleDistances(sorted, left, right);
  return certifiedNumber((exactly) => {
    const median = exactly(left, right).over(2);
    const distances = median.minus(nearer).abs().plus(median.minus(farther).abs());
    const distance = distances.over(2);
    return median.plus(distance.times(factor).times(scale));
  });
}

/**
 * The two values whose distances from the median `(left + right) / 2` are the middle ones (the same one twice for an
 * odd number), the farther first.
 *
 * Invariant: `sorted[start..end]` holds the `end - start + 1` values nearest to the median, and `taken` is the nearest
 * of the others. The values are sorted and the median lies among them, so the farthest is always at one of the ends;
 * it is taken from there. Of n values n - n / 2 (rounded down) are taken: the last one has the middle distance of an
 * odd number, the upper middle one of an even number, whose lower one is taken next.
 */
function middleDistances(sorted: Float64Array, left: number, right: number): [number, number] {
  const middle = sorted.length >> 1;
  let start = 0;
  let end = sorted.length - 1;
  let taken = Number.NaN;
  const takeFarthest = () => {
    const [lowest, highest] = [sorted[start] as number, sorted[end] as number];
    const isLowestFarther = compareSums(left, right, lowest, highest) > 0;
    taken = isLowestFarther ? lowest : highest;
    if (isLowestFarther) start++;
    else end--;
  };
  while (end - start >= middle) takeFarthest();
  const farther = taken;
  if (sorted.length % 2 === 0) takeFarthest();
  return [farther, taken];
}

/** A number with the sign of `(a + b) - (c + d)`. */
function compareSums(a: number, b: number, c: number, d: number): number {
  const first = twoSum(a, b);
  const firstLow = low[0] as number;
  const second = twoSum(c, d);
  // Rounding keeps order: the rests matter only between equal rounded sums.
  const areFinite = Number.isFinite(first) && Number.isFinite(second);
  if (areFinite) return first - second || firstLow - (low[0] as number);
  return certifiedNumber((exactly) => exactly(a, -c).plus(exactly(b, -d)));
}
