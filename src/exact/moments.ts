import { isConstant } from "./dispersion.ts";
import {
  add,
  divide,
  low,
  multiply,
  RELATIVE_ERROR,
  roundIfCertain,
  squareRoot,
  twoSum,
} from "./double_double.ts";
import { alignExponents, roundRatio, roundSquareRoot } from "./dyadic.ts";
import { hasInfinity } from "./infinity.ts";

/**
 * Second moments: each result is the exact real value rounded once to the nearest double. Double-double sums of
 * deviations from a pivot near the mean determine nearly every value, with a bound on their error; integers give the
 * others. A window with an infinity has no variance: NaN.
 */

/** Outside these magnitudes products of deviations may underflow or overflow: integers decide. */
const MAGNITUDE_MIN = 2 ** -900;
const MAGNITUDE_MAX = 2 ** 900;

/**
 * `n * sum((x-p)(y-p')) - sum(x-p) * sum(y-p')` with n values: n(n-1) times the sample covariance, whatever the
 * pivots. The error is at most `bound`, which is NaN or infinite where double-double arithmetic gives up.
 */
interface CrossMoment {
  high: number;
  lowPart: number;
  bound: number;
}

/** A double near the mean: the smaller the deviations from it, the tighter the bound. */
function pivotOf(values: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] as number;
  return sum / values.length;
}

/**
 * Bound on the error: the products are off by RELATIVE_ERROR each, each of the n additions by as much of the
 * partial sum, the closing subtraction likewise; all are at most n * sum(abs(x-p) * abs(y-p')) or, by Cauchy and
 * Schwarz, sqrt of the two squares' products.
 */
function crossMoment(
  x: Float64Array,
  y: Float64Array,
  pivotX: number,
  pivotY: number,
  out: CrossMoment,
): void {
  const n = x.length;
  let sumXHigh = 0;
  let sumXLow = 0;
  let sumYHigh = 0;
  let sumYLow = 0;
  let productHigh = 0;
  let productLow = 0;
  let squareX = 0;
  let squareY = 0;
  for (let i = 0; i < n; i++) {
    const dx = twoSum(x[i] as number, -pivotX);
    const dxLow = low[0] as number;
    const dy = twoSum(y[i] as number, -pivotY);
    const dyLow = low[0] as number;
    sumXHigh = add(sumXHigh, sumXLow, dx, dxLow);
    sumXLow = low[0] as number;
    sumYHigh = add(sumYHigh, sumYLow, dy, dyLow);
    sumYLow = low[0] as number;
    const product = multiply(dx, dxLow, dy, dyLow);
    productHigh = add(productHigh, productLow, product, low[0] as number);
    productLow = low[0] as number;
    squareX += dx * dx;
    squareY += dy * dy;
  }
  const magnitude = n * Math.sqrt(squareX * squareY);
  const isNormal = squareX > MAGNITUDE_MIN && squareY > MAGNITUDE_MIN && magnitude < MAGNITUDE_MAX;
  const scaled = multiply(productHigh, productLow, n, 0);
  const scaledLow = low[0] as number;
  const sums = multiply(sumXHigh, sumXLow, sumYHigh, sumYLow);
  out.high = add(scaled, scaledLow, -sums, -(low[0] as number));
  out.lowPart = low[0] as number;
  out.bound = isNormal ? magnitude * (n + 4) * 4 * RELATIVE_ERROR : Number.NaN;
}

/** The same as one exact integer over `4^exponent`-scaled inputs. */
function exactCrossMoment(x: readonly bigint[], y: readonly bigint[]): bigint {
  let sumX = 0n;
  let sumY = 0n;
  let products = 0n;
  for (let i = 0; i < x.length; i++) {
    sumX += x[i] as bigint;
    sumY += y[i] as bigint;
    products += (x[i] as bigint) * (y[i] as bigint);
  }
  return BigInt(x.length) * products - sumX * sumY;
}

const momentXY: CrossMoment = { high: 0, lowPart: 0, bound: 0 };
const momentXX: CrossMoment = { high: 0, lowPart: 0, bound: 0 };
const momentYY: CrossMoment = { high: 0, lowPart: 0, bound: 0 };

/** Sample covariance of `x` and `y` `[n]`, ddof 1; NaN for n < 2. */
export function exactCovariance(x: Float64Array, y: Float64Array): number {
  const n = x.length;
  if (n < 2) return Number.NaN;
  if ((isConstant(x) && !hasInfinity(y)) || (isConstant(y) && !hasInfinity(x))) return 0;
  crossMoment(x, y, pivotOf(x), pivotOf(y), momentXY);
  const divisor = n * (n - 1);
  const covariance = divide(momentXY.high, momentXY.lowPart, divisor, 0);
  const error = momentXY.bound / divisor + Math.abs(covariance) * RELATIVE_ERROR;
  const rounded = roundIfCertain(covariance, low[0] as number, error);
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(x) || hasInfinity(y)) return Number.NaN;
  const alignedX = alignExponents(x);
  const alignedY = alignExponents(y);
  const moment = exactCrossMoment(alignedX.integers, alignedY.integers);
  return roundRatio(moment, BigInt(divisor), alignedX.exponent + alignedY.exponent);
}

/** Sample variance of the values `[n]`, ddof 1; exactly 0 for equal values, NaN for n < 2. */
export function exactVariance(values: Float64Array): number {
  return exactCovariance(values, values);
}

/** Sample standard deviation of the values `[n]`, ddof 1; exactly 0 for equal values, NaN for n < 2. */
export function exactStandardDeviation(values: Float64Array): number {
  const n = values.length;
  if (n < 2) return Number.NaN;
  if (isConstant(values)) return 0;
  const pivot = pivotOf(values);
  crossMoment(values, values, pivot, pivot, momentXX);
  const divisor = n * (n - 1);
  const variance = divide(momentXX.high, momentXX.lowPart, divisor, 0);
  const deviation = squareRoot(variance, low[0] as number);
  const error = deviation * (Math.abs(momentXX.bound / momentXX.high) + 2 * RELATIVE_ERROR);
  const rounded = roundIfCertain(deviation, low[0] as number, error);
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(values)) return Number.NaN;
  const { integers, exponent } = alignExponents(values);
  return roundSquareRoot(exactCrossMoment(integers, integers), BigInt(divisor), 2 * exponent);
}

/** Pearson correlation of `x` and `y` `[n]`, in [-1, 1]; NaN for n < 2 or a constant side. */
export function exactCorrelation(x: Float64Array, y: Float64Array): number {
  const n = x.length;
  if (n < 2 || isConstant(x) || isConstant(y)) return Number.NaN;
  const pivotX = pivotOf(x);
  const pivotY = pivotOf(y);
  crossMoment(x, y, pivotX, pivotY, momentXY);
  crossMoment(x, x, pivotX, pivotX, momentXX);
  crossMoment(y, y, pivotY, pivotY, momentYY);
  const squared = multiply(momentXX.high, momentXX.lowPart, momentYY.high, momentYY.lowPart);
  const scale = squareRoot(squared, low[0] as number);
  const correlation = divide(momentXY.high, momentXY.lowPart, scale, low[0] as number);
  const lowPart = low[0] as number;
  const relative =
    Math.abs(momentXX.bound / momentXX.high) + Math.abs(momentYY.bound / momentYY.high) + 4 * RELATIVE_ERROR;
  const rounded = roundIfCertain(
    correlation,
    lowPart,
    momentXY.bound / scale + Math.abs(correlation) * relative,
  );
  const isNormal = squared > MAGNITUDE_MIN && squared < MAGNITUDE_MAX;
  if (isNormal && !Number.isNaN(rounded)) return rounded;
  if (hasInfinity(x) || hasInfinity(y)) return Number.NaN;
  const integersX = alignExponents(x).integers;
  const integersY = alignExponents(y).integers;
  const moment = exactCrossMoment(integersX, integersY);
  const squares = exactCrossMoment(integersX, integersX) * exactCrossMoment(integersY, integersY);
  const magnitude = roundSquareRoot(moment * moment, squares, 0);
  return moment < 0n ? -magnitude : magnitude;
}
