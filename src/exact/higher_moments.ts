import {
  Deviations,
  decide,
  deviationIntegers,
  dotIntegers,
  exactly,
  isConstant,
  minus,
  over,
  rootOf,
  roundSignedRoot,
  times,
} from "./dispersion.ts";
import { alignExponents, roundRatio } from "./dyadic.ts";
import { hasInfinity } from "./infinity.ts";

/**
 * Central moments and the shape of a distribution: each result is the exact real value rounded once to the nearest
 * double. It is computed from the power sums Q(k) = sum((n * (x - mean))^k), so that no mean is ever rounded.
 */

/** Highest central moment: its integers have about 60 * k bits, and higher moments say nothing about a sample. */
const MOMENT_MAX = 16;

const deviations = new Deviations();

/** `sum((n * deviation)^k)` in integers. */
function powerSumIntegers(integers: readonly bigint[], k: number): bigint {
  return deviationIntegers(integers).reduce((sum, deviation) => sum + deviation ** BigInt(k), 0n);
}

/**
 * The k-th central moment `sum((x - mean)^k) / n` of the values `[n]`, that is Q(k) / n^(k+1); NaN unless k is whole
 * and in 0..16.
 */
export function exactCentralMoment(values: Float64Array, k: number): number {
  const count = values.length;
  if (!(Number.isInteger(k) && k >= 0 && k <= MOMENT_MAX) || hasInfinity(values)) return Number.NaN;
  if (k === 0) return 1;
  if (k === 1 || isConstant(values)) return 0;
  let moment = deviations.load(values).powerSum(k);
  for (let factor = 0; factor <= k; factor++) moment = over(moment, exactly(count));
  const rounded = decide(moment);
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
  const squares = deviations.load(values).powerSum(2);
  const cubes = times(deviations.powerSum(3), exactly(count));
  const spread = times(times(squares, exactly(count - 2)), rootOf(over(squares, exactly(count - 1))));
  const rounded = decide(over(cubes, spread));
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
  const squares = deviations.load(values).powerSum(2);
  const squared = times(squares, squares);
  const fourths = times(deviations.powerSum(4), exactly(count * (count + 1)));
  const excess = minus(fourths, times(squared, exactly(3 * (count - 1))));
  const divisor = times(squared, exactly((count - 2) * (count - 3)));
  const rounded = decide(over(times(excess, exactly(count - 1)), divisor));
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(values)) return Number.NaN;
  const exact = deviationIntegers(alignExponents(values).integers);
  const n = BigInt(count);
  const exactSquares = dotIntegers(exact, exact);
  const exactFourths = exact.reduce((sum, deviation) => sum + deviation ** 4n, 0n);
  const numerator = (n - 1n) * (n * (n + 1n) * exactFourths - 3n * (n - 1n) * exactSquares ** 2n);
  return roundRatio(numerator, (n - 2n) * (n - 3n) * exactSquares ** 2n, 0);
}
