import { type Bounded, certified, exactly, minus, over, rootOf, times } from "./bounded.ts";
import { Deviations, deviationIntegers, isConstant } from "./deviations.ts";
import { alignExponents, dotIntegers, roundRatio, roundSignedRoot, roundSquareRoot } from "./dyadic.ts";
import { hasInfinity } from "./infinity.ts";

/**
 * Central moments of one and two series: each result is the exact real value rounded once to the nearest double. It is
 * computed from the power sums Q(k) = sum((n * (x - mean))^k), so that no mean is ever rounded. A window with an infinity
 * has no moments: NaN.
 */

const ofX = new Deviations();
const ofY = new Deviations();

/** `sum / (n^2 * (n - 1))`: a sample moment of n values from a sum of products of deviations, n times. */
function sampleMoment(sum: Bounded, count: number): Bounded {
  return over(sum, times(exactly(count * count), exactly(count - 1)));
}

/** Sample covariance of `x` and `y` `[n]`, ddof 1; NaN for n < 2. */
export function exactCovariance(x: Float64Array, y: Float64Array): number {
  const count = x.length;
  if (count < 2) return Number.NaN;
  if ((isConstant(x) && !hasInfinity(y)) || (isConstant(y) && !hasInfinity(x))) return 0;
  const rounded = certified(sampleMoment(ofX.load(x).productSum(ofY.load(y)), count));
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(x) || hasInfinity(y)) return Number.NaN;
  const alignedX = alignExponents(x);
  const alignedY = alignExponents(y);
  const products = dotIntegers(deviationIntegers(alignedX.integers), deviationIntegers(alignedY.integers));
  return roundRatio(products, sampleDivisor(count), alignedX.exponent + alignedY.exponent);
}

function sampleDivisor(count: number): bigint {
  return BigInt(count) ** 2n * BigInt(count - 1);
}

/** Sample variance of the values `[n]`, ddof 1; exactly 0 for equal values, NaN for n < 2. */
export function exactVariance(values: Float64Array): number {
  return exactCovariance(values, values);
}

/** Sample standard deviation of the values `[n]`, ddof 1; exactly 0 for equal values, NaN for n < 2. */
export function exactStandardDeviation(values: Float64Array): number {
  const count = values.length;
  if (count < 2) return Number.NaN;
  if (isConstant(values)) return 0;
  const rounded = certified(rootOf(sampleMoment(ofX.load(values).powerSum(2), count)));
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(values)) return Number.NaN;
  const { integers, exponent } = alignExponents(values);
  return roundSquareRoot(powerSumIntegers(integers, 2), sampleDivisor(count), 2 * exponent);
}

/** Pearson correlation of `x` and `y` `[n]`, in [-1, 1]; NaN for n < 2 or a constant side. */
export function exactCorrelation(x: Float64Array, y: Float64Array): number {
  if (x.length < 2 || isConstant(x) || isConstant(y)) return Number.NaN;
  const products = ofX.load(x).productSum(ofY.load(y));
  const rounded = certified(over(products, rootOf(times(ofX.powerSum(2), ofY.powerSum(2)))));
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(x) || hasInfinity(y)) return Number.NaN;
  const exactX = deviationIntegers(alignExponents(x).integers);
  const exactY = deviationIntegers(alignExponents(y).integers);
  const squares = dotIntegers(exactX, exactX) * dotIntegers(exactY, exactY);
  return roundSignedRoot(dotIntegers(exactX, exactY), 1n, squares);
}

/** Highest central moment: its integers have about 60 * k bits, and higher moments say nothing about a sample. */
const MOMENT_MAX = 16;

/** `sum((n * deviation)^k)` in integers. */
function powerSumIntegers(integers: readonly bigint[], k: number): bigint {
  return deviationIntegers(integers).reduce((sum, deviation) => sum + deviation ** BigInt(k), 0n);
}

/** True for the k of `exactCentralMoment`: whole and in 0..16. */
export function isMomentOrder(k: number): boolean {
  return Number.isInteger(k) && k >= 0 && k <= MOMENT_MAX;
}

/**
 * The k-th central moment `sum((x - mean)^k) / n` of the values `[n]`, that is Q(k) / n^(k+1); NaN unless k is one of
 * `isMomentOrder`.
 */
export function exactCentralMoment(values: Float64Array, k: number): number {
  const count = values.length;
  if (!isMomentOrder(k) || hasInfinity(values)) return Number.NaN;
  if (k === 0) return 1;
  if (k === 1 || isConstant(values)) return 0;
  let moment = ofX.load(values).powerSum(k);
  for (let factor = 0; factor <= k; factor++) moment = over(moment, exactly(count));
  const rounded = certified(moment);
  if (!Number.isNaN(rounded)) return rounded;
  const { integers, exponent } = alignExponents(values);
  return roundRatio(powerSumIntegers(integers, k), BigInt(count) ** BigInt(k + 1), k * exponent);
}

/**
 * Skewness of the values `[n]`, corrected for bias: with the moments m2 and m3 it is
 * sqrt(n(n-1)) / (n-2) * m3 / m2^1.5 = n sqrt(n-1) / (n-2) * Q(3) / Q(2)^1.5; NaN for n < 3 or equal values.
 */
export function exactSkewness(values: Float64Array): number {
  const count = values.length;
  if (count < 3 || isConstant(values)) return Number.NaN;
  const squares = ofX.load(values).powerSum(2);
  const cubes = times(ofX.powerSum(3), exactly(count));
  const spread = times(times(squares, exactly(count - 2)), rootOf(over(squares, exactly(count - 1))));
  const rounded = certified(over(cubes, spread));
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(values)) return Number.NaN;
  const { integers } = alignExponents(values);
  const n = BigInt(count);
  const exactSquares = powerSumIntegers(integers, 2);
  const denominator = (n - 2n) ** 2n * exactSquares ** 3n;
  return roundSignedRoot(powerSumIntegers(integers, 3), n * n * (n - 1n), denominator);
}

/**
 * Excess kurtosis of the values `[n]`, corrected for bias: with the moments m2 and m4 it is
 * (n-1) / ((n-2)(n-3)) * ((n+1) m4 / m2^2 - 3(n-1)), where m4 / m2^2 = n Q(4) / Q(2)^2; NaN for n < 4 or equal values.
 */
export function exactKurtosis(values: Float64Array): number {
  const count = values.length;
  if (count < 4 || isConstant(values)) return Number.NaN;
  const squares = ofX.load(values).powerSum(2);
  const squared = times(squares, squares);
  const fourths = times(ofX.powerSum(4), exactly(count * (count + 1)));
  const excess = minus(fourths, times(squared, exactly(3 * (count - 1))));
  const divisor = times(squared, exactly((count - 2) * (count - 3)));
  const rounded = certified(over(times(excess, exactly(count - 1)), divisor));
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(values)) return Number.NaN;
  const exact = deviationIntegers(alignExponents(values).integers);
  const n = BigInt(count);
  const exactSquares = dotIntegers(exact, exact);
  const exactFourths = exact.reduce((sum, deviation) => sum + deviation ** 4n, 0n);
  const numerator = (n - 1n) * (n * (n + 1n) * exactFourths - 3n * (n - 1n) * exactSquares ** 2n);
  return roundRatio(numerator, (n - 2n) * (n - 3n) * exactSquares ** 2n, 0);
}
