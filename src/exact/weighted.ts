import { type Bounded, certified, exactly, isNormal, over } from "./bounded.ts";
import { isConstant } from "./deviations.ts";
import { add, divide, low, multiply, RELATIVE_ERROR, twoProduct } from "./double_double.ts";
import { alignExponents, roundRatio } from "./dyadic.ts";
import { hasInfinity, infiniteSum } from "./infinity.ts";

/**
 * Weighted sums: each result is the exact real value rounded once to the nearest double. Weights are positive, so an
 * infinity of one sign is the result; both signs give NaN.
 */

/** Weights `slope * position + offset`; they and all intermediate products are whole numbers below 2^53. */
export interface LinearWeights {
  readonly slope: number;
  readonly offset: number;
}

/**
 * `sum(weight(position[i]) * value[i])`. The products are exact; every addition is off by at most RELATIVE_ERROR of
 * the sum of absolute products.
 */
export function linearlyWeightedSum(
  values: Float64Array,
  positions: Float64Array,
  { slope, offset }: LinearWeights,
): Bounded {
  let high = 0;
  let lowPart = 0;
  let magnitude = 0;
  for (let i = 0; i < values.length; i++) {
    const product = twoProduct(values[i] as number, slope * (positions[i] as number) + offset);
    high = add(high, lowPart, product, low[0] as number);
    lowPart = low[0] as number;
    magnitude += Math.abs(product);
  }
  const isSafe = isNormal(magnitude);
  return { high, lowPart, error: isSafe ? (values.length + 2) * RELATIVE_ERROR * magnitude : Number.NaN };
}

/** The same in integers. */
export function linearlyWeightedIntegers(
  integers: readonly bigint[],
  positions: Float64Array,
  { slope, offset }: LinearWeights,
): bigint {
  return integers.reduce(
    (sum, integer, i) => sum + integer * BigInt(slope * (positions[i] as number) + offset),
    0n,
  );
}

/**
 * Mean over the values `[n]` of value times weight, the weights being position + 1 over the sum 1 + 2 + ... + rowCount:
 * the weighted mean divided once more by the count.
 */
export function exactMeanOfWeighted(values: Float64Array, positions: Float64Array, rowCount: number): number {
  const weights = { slope: 1, offset: 1 };
  const divisor = ((rowCount * (rowCount + 1)) / 2) * values.length;
  const rounded = certified(over(linearlyWeightedSum(values, positions, weights), exactly(divisor)));
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(values)) return infiniteSum(values);
  const { integers, exponent } = alignExponents(values);
  return roundRatio(linearlyWeightedIntegers(integers, positions, weights), BigInt(divisor), exponent);
}

const ratio = divide(9, 0, 10, 0);
const ratioLow = low[0] as number;

/**
 * Weighted mean of the values `[n]` with the weights (9/10)^k, k = 0 for the last value.
 *
 * Horner's rule from the oldest value on: each value passes at most n products and n additions, each off by at most
 * RELATIVE_ERROR, as does the ratio itself; the sum of the weights likewise.
 */
export function exactNineTenthsMean(values: Float64Array): number {
  if (isConstant(values)) return (values[0] as number) + 0;
  const count = values.length;
  let high = 0;
  let lowPart = 0;
  let magnitude = 0;
  let weight = 0;
  let weightLow = 0;
  for (let i = 0; i < count; i++) {
    const value = values[i] as number;
    const kept = multiply(high, lowPart, ratio, ratioLow);
    high = add(kept, low[0] as number, value, 0);
    lowPart = low[0] as number;
    magnitude = magnitude * ratio + Math.abs(value);
    const keptWeight = multiply(weight, weightLow, ratio, ratioLow);
    weight = add(keptWeight, low[0] as number, 1, 0);
    weightLow = low[0] as number;
  }
  const relative = (3 * count + 3) * RELATIVE_ERROR;
  const sum = { high, lowPart, error: isNormal(magnitude) ? relative * magnitude : Number.NaN };
  const rounded = certified(over(sum, { high: weight, lowPart: weightLow, error: relative * weight }));
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(values)) return infiniteSum(values);
  return nineTenthsMeanOfIntegers(values);
}

/** The weights times 10^(n-1) are the integers 9^k * 10^(n-1-k); their sum is 10^n - 9^n. */
function nineTenthsMeanOfIntegers(values: Float64Array): number {
  const { integers, exponent } = alignExponents(values);
  let sum = 0n;
  let power = 1n;
  for (const integer of integers.reverse()) {
    sum = 10n * sum + power * integer;
    power *= 9n;
  }
  return roundRatio(sum, 10n ** BigInt(integers.length) - power, exponent);
}
