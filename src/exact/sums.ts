import {
  add,
  divide,
  low,
  multiply,
  RELATIVE_ERROR,
  roundIfCertain,
  twoProduct,
  twoSum,
} from "./double_double.ts";
import { alignExponents, decompose, roundRatio } from "./dyadic.ts";
import { hasInfinity, infiniteProduct, infiniteSum } from "./infinity.ts";

/**
 * Sums and statistics of a single sum: each result is the exact real value rounded once to the nearest double. A
 * compensated sum with a bound on its error determines nearly every value; integers give the others. An infinity of one
 * sign is the result, both signs give NaN. An exact zero is +0.
 */

/** A sum as `high + lowPart`, off by at most `error`. Reused: read it before the next call. */
const total = { high: 0, lowPart: 0, error: 0 };

/** Sets `total` to the sum of the values, or of their absolute values. */
function accumulate(values: Float64Array, absolute: boolean): void {
  let sum = 0;
  let compensation = 0;
  let lost = 0; // sum of the absolute rounding errors of the compensation itself
  for (let i = 0; i < values.length; i++) {
    const value = absolute ? Math.abs(values[i] as number) : (values[i] as number);
    sum = twoSum(sum, value);
    compensation = twoSum(compensation, low[0] as number);
    lost += Math.abs(low[0] as number);
  }
  total.high = twoSum(sum, compensation);
  total.lowPart = low[0] as number;
  total.error = lost * (1 + values.length * 2 ** -52);
}

function exactIntegerSum(integers: readonly bigint[]): bigint {
  return integers.reduce((sum, integer) => sum + integer, 0n);
}

/** Sum of the values `[n]`; 0 for n = 0. */
export function exactSum(values: Float64Array): number {
  accumulate(values, false);
  // Without a lost bit the two parts are the exact sum, and adding them rounds it.
  if (total.error === 0) return total.high + 0;
  const rounded = roundIfCertain(total.high, total.lowPart, total.error);
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(values)) return infiniteSum(values);
  const { integers, exponent } = alignExponents(values);
  return roundRatio(exactIntegerSum(integers), 1n, exponent);
}

/** Arithmetic mean of the values `[n]`; NaN for n = 0. */
export function exactMean(values: Float64Array): number {
  const count = values.length;
  if (count === 0) return Number.NaN;
  accumulate(values, false);
  if (total.high === 0 && total.error === 0) return 0;
  const mean = divide(total.high, total.lowPart, count, 0);
  const rounded = roundIfCertain(
    mean,
    low[0] as number,
    total.error / count + Math.abs(mean) * RELATIVE_ERROR,
  );
  if (Math.abs(rounded) > NORMAL_MIN) return rounded;
  if (hasInfinity(values)) return infiniteSum(values);
  const { integers, exponent } = alignExponents(values);
  return roundRatio(exactIntegerSum(integers), BigInt(count), exponent);
}

/** Below this the relative error bounds of double-double arithmetic no longer hold. */
const NORMAL_MIN = 2 ** -900;

/** Mean of the values `[n]` with the weights 1..n, the last value weighing most. */
export function exactLinearlyWeightedMean(values: Float64Array): number {
  const count = values.length;
  let high = 0;
  let lowPart = 0;
  let magnitude = 0;
  for (let i = 0; i < count; i++) {
    const term = twoProduct(values[i] as number, i + 1);
    high = add(high, lowPart, term, low[0] as number);
    lowPart = low[0] as number;
    magnitude += Math.abs(term);
  }
  if (magnitude === 0) return 0;
  const weight = (count * (count + 1)) / 2;
  const mean = divide(high, lowPart, weight, 0);
  const error = (magnitude * (count + 2) * RELATIVE_ERROR) / weight;
  const rounded = roundIfCertain(mean, low[0] as number, error);
  if (Math.abs(rounded) > NORMAL_MIN) return rounded;
  if (hasInfinity(values)) return infiniteSum(values);
  const { integers, exponent } = alignExponents(values);
  const weighted = integers.map((integer, i) => integer * BigInt(i + 1));
  return roundRatio(exactIntegerSum(weighted), BigInt(weight), exponent);
}

/** Product of the values `[n]`; 1 for n = 0. An infinity follows IEEE: times zero it gives NaN. */
export function exactProduct(values: Float64Array): number {
  let high = 1;
  let lowPart = 0;
  let isNormal = true;
  for (let i = 0; i < values.length; i++) {
    high = multiply(high, lowPart, values[i] as number, 0);
    lowPart = low[0] as number;
    isNormal &&= Math.abs(high) > NORMAL_MIN && Math.abs(high) < 1 / NORMAL_MIN;
  }
  const rounded = roundIfCertain(high, lowPart, Math.abs(high) * values.length * RELATIVE_ERROR);
  if (isNormal && !Number.isNaN(rounded)) return rounded;
  if (hasInfinity(values)) return infiniteProduct(values);
  let integer = 1n;
  let exponent = 0;
  for (const value of values) {
    const part = decompose(value);
    integer *= part.integer;
    exponent += part.exponent;
  }
  return roundRatio(integer, 1n, exponent);
}

/** `output[i] = values[i] * factor / sum(abs(values))`; NaN where that sum is 0. */
export function exactShares(values: Float64Array, factor: number, output: Float64Array): void {
  accumulate(values, true);
  const { high, lowPart, error } = total;
  let exact: { integers: bigint[]; sum: bigint } | undefined;
  const isInfinite = hasInfinity(values);
  const hasExactShares = Number.isFinite(factor) && high !== 0 && !isInfinite;
  const infiniteTotal = isInfinite ? Number.POSITIVE_INFINITY : high;
  const factorParts = decompose(hasExactShares ? factor : 0);
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (!hasExactShares) {
      output[i] = (value * factor) / infiniteTotal;
      continue;
    }
    const scaled = twoProduct(value, factor);
    const share = divide(scaled, low[0] as number, high, lowPart);
    const shareError = Math.abs(share) * (2 * RELATIVE_ERROR + (2 * error) / high);
    const rounded = roundIfCertain(share, low[0] as number, shareError);
    const isNormal = Math.abs(rounded) > NORMAL_MIN && Math.abs(scaled) > NORMAL_MIN && high > NORMAL_MIN;
    if (isNormal && !Number.isNaN(rounded)) {
      output[i] = rounded;
      continue;
    }
    exact ??= exactMagnitudes(values);
    const scaledInteger = (exact.integers[i] as bigint) * factorParts.integer;
    output[i] = roundRatio(scaledInteger, exact.sum, factorParts.exponent);
  }
}

function exactMagnitudes(values: Float64Array): { integers: bigint[]; sum: bigint } {
  const { integers } = alignExponents(values);
  return { integers, sum: exactIntegerSum(integers.map((integer) => (integer < 0n ? -integer : integer))) };
}

/** `output[i] = values[i] - mean(values)`. */
export function exactDeviations(values: Float64Array, output: Float64Array): void {
  const count = values.length;
  accumulate(values, false);
  const { error } = total;
  const mean = divide(total.high, total.lowPart, count, 0);
  const meanLow = low[0] as number;
  let exact: { integers: bigint[]; exponent: number; sum: bigint } | undefined;
  const isInfinite = hasInfinity(values);
  const infiniteMean = isInfinite ? infiniteSum(values) : mean;
  for (let i = 0; i < count; i++) {
    const value = values[i] as number;
    if (isInfinite) {
      output[i] = value - infiniteMean;
      continue;
    }
    const difference = twoSum(value, -mean);
    const bound = error / count + (Math.abs(value) + Math.abs(mean)) * RELATIVE_ERROR;
    const rounded = roundIfCertain(difference, (low[0] as number) - meanLow, bound);
    if (Math.abs(rounded) > NORMAL_MIN) {
      output[i] = rounded;
      continue;
    }
    if (!exact) {
      const aligned = alignExponents(values);
      exact = { ...aligned, sum: exactIntegerSum(aligned.integers) };
    }
    const scaled = (exact.integers[i] as bigint) * BigInt(count) - exact.sum;
    output[i] = roundRatio(scaled, BigInt(count), exact.exponent);
  }
}
