import { certified } from "./certified.ts";
import type { Real, Series } from "./real.ts";
import { hasInfinity, infiniteSum, isConstant } from "./special_values.ts";

/**
 * How values `[n]` lie about their mean, exact and rounded once. Deviations and their sums are n times too large at
 * each factor (`Series`), so that no mean is ever rounded. A window with an infinity has no deviations: NaN.
 */

/** A sample moment (ddof 1) from a sum of products of two deviations. */
function sampleMoment<T extends Real<T>>(sum: T, count: number): T {
  return sum.over(count * count).over(count - 1);
}

/** Sample standard deviation (ddof 1), n times as the deviations are. */
export function scaledStd<T extends Real<T>>(x: Series<T>): T {
  const squares = x.powerSum(2);
  return squares.over(x.count - 1).root();
}

/** Sample covariance, ddof 1; NaN for n < 2. */
export function exactCovariance(x: Float64Array, y: Float64Array): number {
  if (x.length < 2) return Number.NaN;
  if ((isConstant(x) && !hasInfinity(y)) || (isConstant(y) && !hasInfinity(x))) return 0;
  return certified([x, y], (x, y) => sampleMoment(x.productSum(y), x.count));
}

/** Sample variance, ddof 1; exactly 0 for equal values, NaN for n < 2. */
export function exactVariance(values: Float64Array): number {
  if (values.length < 2) return Number.NaN;
  return isConstant(values) ? 0 : certified([values], (x) => sampleMoment(x.powerSum(2), x.count));
}

/** Sample standard deviation, ddof 1; exactly 0 for equal values, NaN for n < 2. */
export function exactStandardDeviation(values: Float64Array): number {
  if (values.length < 2) return Number.NaN;
  return isConstant(values) ? 0 : certified([values], (x) => scaledStd(x).over(x.count));
}

/** Pearson correlation, in [-1, 1]; NaN for n < 2 or a constant side. */
export function exactCorrelation(x: Float64Array, y: Float64Array): number {
  if (x.length < 2 || isConstant(x) || isConstant(y)) return Number.NaN;
  return certified([x, y], (x, y) => x.productSum(y).over(x.powerSum(2).times(y.powerSum(2)).root()));
}

/** Highest central moment: its integers have about 60 * k bits, and higher moments say nothing about a sample. */
const MOMENT_MAX = 16;

/** True for the k of `exactCentralMoment`: whole and in 0..16. */
export function isMomentOrder(k: number): boolean {
  return Number.isInteger(k) && k >= 0 && k <= MOMENT_MAX;
}

/** The k-th central moment `sum((x - mean)^k) / n`; NaN unless k is one of `isMomentOrder`. */
export function exactCentralMoment(values: Float64Array, k: number): number {
  if (!isMomentOrder(k) || hasInfinity(values)) return Number.NaN;
  if (k === 0) return 1;
  if (k === 1 || isConstant(values)) return 0;
  return certified([values], (x) => {
    let moment = x.powerSum(k);
    for (let factor = 0; factor <= k; factor++) moment = moment.over(x.count);
    return moment;
  });
}

/**
 * Skewness, corrected for bias: with the moments m2 and m3 it is sqrt(n(n-1)) / (n-2) * m3 / m2^1.5, which is
 * n sqrt(n-1) / (n-2) * powerSum(3) / powerSum(2)^1.5; NaN for n < 3 or equal values.
 */
export function exactSkewness(values: Float64Array): number {
  const count = values.length;
  if (count < 3 || isConstant(values)) return Number.NaN;
  return certified([values], (x) => {
    const squares = x.powerSum(2);
    const spread = squares.times(count - 2).times(squares.over(count - 1).root());
    return x.powerSum(3).times(count).over(spread);
  });
}

/**
 * Excess kurtosis, corrected for bias: with the moments m2 and m4 it is (n-1) / ((n-2)(n-3)) * ((n+1) m4 / m2^2 -
 * 3(n-1)), where m4 / m2^2 = n * powerSum(4) / powerSum(2)^2; NaN for n < 4 or equal values.
 */
export function exactKurtosis(values: Float64Array): number {
  const count = values.length;
  if (count < 4 || isConstant(values)) return Number.NaN;
  return certified([values], (x) => {
    const squares = x.powerSum(2);
    const squared = squares.times(squares);
    const fourths = x.powerSum(4).times(count * (count + 1));
    const excess = fourths.minus(squared.times(3 * (count - 1)));
    return excess.times(count - 1).over(squared.times((count - 2) * (count - 3)));
  });
}

/** Mean of the absolute deviations from the mean; exactly 0 for equal values. */
export function exactMeanAbsoluteDeviation(values: Float64Array): number {
  if (isConstant(values)) return 0;
  return certified([values], (x) => x.absoluteSum().over(x.count * x.count));
}

/** The last value minus the mean; an infinity follows IEEE, the mean being infinite itself. */
export function exactLastDeviation(values: Float64Array): number {
  if (isConstant(values)) return 0;
  const last = values.length - 1;
  return certified(
    [values],
    (x) =>
      x
        .number(values[last] as number)
        .times(x.count)
        .minus(x.sum())
        .over(x.count),
    () => (values[last] as number) - infiniteSum(values),
  );
}

/** The last deviation from the mean over the sample standard deviation (ddof 1); NaN if that is 0 or n < 2. */
export function exactLastZScore(values: Float64Array): number {
  if (values.length < 2 || isConstant(values)) return Number.NaN;
  return certified([values], (x) => x.deviation(x.count - 1).over(scaledStd(x)));
}

/** Mean over sample standard deviation (ddof 1); NaN if that is 0 or n < 2. */
export function exactMeanOverDeviation(values: Float64Array): number {
  if (values.length < 2 || isConstant(values)) return Number.NaN;
  return certified([values], (x) => x.sum().over(scaledStd(x)));
}
