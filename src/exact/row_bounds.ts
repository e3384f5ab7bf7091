import { type Bounded, certified, exactly, isNormal, minus, over, sumOf, times } from "./bounded.ts";
import { low, twoSum } from "./double_double.ts";
import { alignExponents, decompose, roundRatio } from "./dyadic.ts";
import { hasInfinity } from "./infinity.ts";

/** Limits for a row's values computed from the row itself: exact real values rounded once. */

/** `factor * sum(abs(values))`; an infinity among the values makes it infinite. */
export function exactMagnitudeShare(values: Float64Array, factor: number): number {
  const rounded = certified(times(sumOf(values.map(Math.abs)), exactly(factor)));
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(values)) return factor * Number.POSITIVE_INFINITY;
  const { integers, exponent } = alignExponents(values);
  const sum = integers.reduce((total, integer) => total + magnitude(integer), 0n);
  const scale = decompose(factor);
  return roundRatio(sum * scale.integer, 1n, exponent + scale.exponent);
}

/** `output[i] = (values[i] - min) / (max - min) - offset`; NaN where all values are equal or one is infinite. */
export function exactRangeShares(values: Float64Array, offset: number, output: Float64Array): void {
  const least = values.reduce((min, value) => Math.min(min, value), Number.POSITIVE_INFINITY);
  const most = values.reduce((max, value) => Math.max(max, value), Number.NEGATIVE_INFINITY);
  if (least === most || hasInfinity(values)) {
    output.fill(Number.NaN);
    return;
  }
  const range = difference(most, least);
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    const share = over(difference(value, least), range);
    const rounded = certified(minus(share, exactly(offset)));
    const isCertain = isNormal(range.high) && !Number.isNaN(rounded);
    output[i] = isCertain ? rounded : integerRangeShare(value, least, most, offset);
  }
}

/** `a - b` exactly. */
function difference(a: number, b: number): Bounded {
  const high = twoSum(a, -b);
  return { high, lowPart: low[0] as number, error: 0 };
}

function integerRangeShare(value: number, least: number, most: number, offset: number): number {
  const [x, min, max] = alignExponents(Float64Array.of(value, least, most)).integers as [
    bigint,
    bigint,
    bigint,
  ];
  const { integer, exponent } = decompose(offset);
  const shift = BigInt(Math.max(0, -exponent));
  const scaledOffset = integer << (BigInt(exponent) + shift);
  return roundRatio(((x - min) << shift) - scaledOffset * (max - min), max - min, -Number(shift));
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
  const distant = middleDistances(sorted, left, right);
  const { integers, exponent } = alignExponents(Float64Array.of(left, right, ...distant));
  const [a, b, x, y] = integers as [bigint, bigint, bigint, bigint];
  // Four times the median, and four times the median distance: twice the sum of the two in the middle.
  const median = 2n * (a + b);
  const distance = magnitude(2n * x - a - b) + magnitude(2n * y - a - b);
  const [m, s] = [decompose(factor), decompose(scale)];
  const factorExponent = m.exponent + s.exponent;
  const shift = BigInt(Math.max(0, -factorExponent));
  const step = (m.integer * s.integer * distance) << (BigInt(factorExponent) + shift);
  return roundRatio((median << shift) + step, 4n, exponent - Number(shift));
}

function magnitude(n: bigint): bigint {
  return n < 0n ? -n : n;
}

/**
 * The two values whose distances from the median `(left + right) / 2` are the middle ones (the same one twice for an
 * odd number). The values are sorted, so the greatest remaining distance is always at one of the ends: it is removed
 * there until the middle ones remain.
 */
function middleDistances(sorted: Float64Array, left: number, right: number): [number, number] {
  const middle = sorted.length >> 1;
  let start = 0;
  let end = sorted.length - 1;
  let taken = Number.NaN;
  const takeFarther = () => {
    const [low, high] = [sorted[start] as number, sorted[end] as number];
    const isLowFarther = compareSums(left, right, low, high) > 0;
    taken = isLowFarther ? low : high;
    if (isLowFarther) start++;
    else end--;
  };
  while (end - start >= middle) takeFarther();
  const farther = taken;
  if (sorted.length % 2 === 0) takeFarther();
  return [farther, taken];
}

/** Sign of `(a + b) - (c + d)`. */
function compareSums(a: number, b: number, c: number, d: number): number {
  const first = twoSum(a, b);
  const firstLow = low[0] as number;
  const second = twoSum(c, d);
  // Rounding keeps order: the rests matter only between equal rounded sums.
  if (Number.isFinite(first) && Number.isFinite(second)) {
    return Math.sign(first - second) || Math.sign(firstLow - (low[0] as number));
  }
  const [x, y, z, w] = alignExponents(Float64Array.of(a, b, c, d)).integers as [
    bigint,
    bigint,
    bigint,
    bigint,
  ];
  const difference = x + y - z - w;
  return difference === 0n ? 0 : difference > 0n ? 1 : -1;
}
