import { type Bounded, certified, exactly, isNormal, over, times } from "./bounded.ts";
import { Deviations, deviationIntegers } from "./deviations.ts";
import { add, low, multiply, RELATIVE_ERROR, roundIfCertain, twoProduct, twoSum } from "./double_double.ts";
import { alignExponents, decompose, roundRatio, sumOfIntegers } from "./dyadic.ts";
import { hasInfinity, infiniteProduct, infiniteSum } from "./infinity.ts";

/**
 * Sums and statistics of a single sum: each result is the exact real value rounded once to the nearest double. A
 * compensated sum with a bound on its error determines nearly every value; integers give the others. An infinity of one
 * sign is the result, both signs give NaN. An exact zero is +0.
 */

/** The sum of the values by compensated summation: its error is 0 where no bit is lost. */
function compensatedSum(values: Float64Array): Bounded {
  let sum = 0;
  let compensation = 0;
  let lost = 0; // sum of the absolute rounding errors of the compensation itself
  for (let i = 0; i < values.length; i++) {
    sum = twoSum(sum, values[i] as number);
    compensation = twoSum(compensation, low[0] as number);
    lost += Math.abs(low[0] as number);
  }
  const high = twoSum(sum, compensation);
  return { high, lowPart: low[0] as number, error: lost * (1 + values.length * 2 ** -52) };
}

/** Sum of the values `[n]`; 0 for n = 0. */
export function exactSum(values: Float64Array): number {
  const { high, lowPart, error } = compensatedSum(values);
  // Without a lost bit the two parts are the exact sum, and adding them rounds it.
  if (error === 0) return high + 0;
  const rounded = roundIfCertain(high, lowPart, error);
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(values)) return infiniteSum(values);
  const { integers, exponent } = alignExponents(values);
  return roundRatio(sumOfIntegers(integers), 1n, exponent);
}

/** Arithmetic mean of the values `[n]`; NaN for n = 0. */
export function exactMean(values: Float64Array): number {
  const count = values.length;
  if (count === 0) return Number.NaN;
  const sum = compensatedSum(values);
  if (sum.high === 0 && sum.error === 0) return 0;
  const rounded = certified(over(sum, exactly(count)));
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(values)) return infiniteSum(values);
  const { integers, exponent } = alignExponents(values);
  return roundRatio(sumOfIntegers(integers), BigInt(count), exponent);
}

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
  const error = isNormal(magnitude) ? magnitude * (count + 2) * RELATIVE_ERROR : Number.NaN;
  const rounded = certified(over({ high, lowPart, error }, exactly(weight)));
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(values)) return infiniteSum(values);
  const { integers, exponent } = alignExponents(values);
  const weighted = integers.map((integer, i) => integer * BigInt(i + 1));
  return roundRatio(sumOfIntegers(weighted), BigInt(weight), exponent);
}

/** Product of the values `[n]`; 1 for n = 0. An infinity follows IEEE: times zero it gives NaN. */
export function exactProduct(values: Float64Array): number {
  let high = 1;
  let lowPart = 0;
  let isSafe = true;
  for (let i = 0; i < values.length; i++) {
    high = multiply(high, lowPart, values[i] as number, 0);
    lowPart = low[0] as number;
    isSafe &&= isNormal(high);
  }
  const error = isSafe ? Math.abs(high) * values.length * RELATIVE_ERROR : Number.NaN;
  const rounded = certified({ high, lowPart, error });
  if (!Number.isNaN(rounded)) return rounded;
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
  const total = compensatedSum(values.map(Math.abs));
  const isInfinite = hasInfinity(values);
  if (!Number.isFinite(factor) || total.high === 0 || isInfinite) {
    const divisor = isInfinite ? Number.POSITIVE_INFINITY : total.high;
    for (let i = 0; i < values.length; i++) output[i] = ((values[i] as number) * factor) / divisor;
    return;
  }
  const { integer, exponent } = decompose(factor);
  let exact: { integers: bigint[]; sum: bigint } | undefined;
  for (let i = 0; i < values.length; i++) {
    const scaled = times(exactly(values[i] as number), exactly(factor));
    output[i] = certified(over(scaled, total));
    if (!Number.isNaN(output[i])) continue;
    exact ??= exactMagnitudes(values);
    output[i] = roundRatio((exact.integers[i] as bigint) * integer, exact.sum, exponent);
  }
}

function exactMagnitudes(values: Float64Array): { integers: bigint[]; sum: bigint } {
  const { integers } = alignExponents(values);
  return { integers, sum: sumOfIntegers(integers.map((integer) => (integer < 0n ? -integer : integer))) };
}

const deviations = new Deviations();

/** `output[i] = values[i] - mean(values)`. */
export function exactDeviations(values: Float64Array, output: Float64Array): void {
  const count = exactly(values.length);
  if (hasInfinity(values)) {
    const mean = infiniteSum(values);
    for (let i = 0; i < values.length; i++) output[i] = (values[i] as number) - mean;
    return;
  }
  deviations.load(values);
  let exact: { scaled: bigint[]; exponent: number } | undefined;
  for (let i = 0; i < values.length; i++) {
    output[i] = certified(over(deviations.at(i), count));
    if (!Number.isNaN(output[i])) continue;
    exact ??= exactScaledDeviations(values);
    output[i] = roundRatio(exact.scaled[i] as bigint, BigInt(values.length), exact.exponent);
  }
}

/** The deviations, n times, as integers over one exponent. */
function exactScaledDeviations(values: Float64Array): { scaled: bigint[]; exponent: number } {
  const { integers, exponent } = alignExponents(values);
  return { scaled: deviationIntegers(integers), exponent };
}
