import { certified } from "./certified.ts";
import { infiniteProduct, infiniteSum, isConstant } from "./special_values.ts";

/**
 * Sums, means and products of the values `[n]`, exact and rounded once. An infinity of one sign is the result, both
 * signs give NaN. An exact zero is +0.
 */

/** 0 for n = 0. */
export function exactSum(values: Float64Array): number {
  return certified([values], (x) => x.sum(), infiniteSum);
}

/** Arithmetic mean; NaN for n = 0. */
export function exactMean(values: Float64Array): number {
  return certified([values], (x) => x.sum().over(x.count), infiniteSum);
}

/** 0, 1, 2 and so on: the positions of values without gaps. */
let positionsWithoutGaps = new Float64Array(0);

/** The mean with the weights 1..n, the last value weighing most. */
export function exactLinearlyWeightedMean(values: Float64Array): number {
  const count = values.length;
  if (positionsWithoutGaps.length < count)
    positionsWithoutGaps = new Float64Array(2 * count).map((_, i) => i);
  const weights = { slope: 1, offset: 1 };
  const total = (count * (count + 1)) / 2;
  return certified([values], (x) => x.weightedSum(weights, positionsWithoutGaps).over(total), infiniteSum);
}

/**
 * Mean of value times weight, the weights being position + 1 over the sum 1 + 2 + ... + rowCount: the weighted mean
 * divided once more by the count.
 */
export function exactMeanOfWeighted(values: Float64Array, positions: Float64Array, rowCount: number): number {
  const weights = { slope: 1, offset: 1 };
  const divisor = ((rowCount * (rowCount + 1)) / 2) * values.length;
  return certified([values], (x) => x.weightedSum(weights, positions).over(divisor), infiniteSum);
}

/** The mean with the weights (9/10)^k, k = 0 for the last value. */
export function exactNineTenthsMean(values: Float64Array): number {
  if (isConstant(values)) return (values[0] as number) + 0;
  return certified([values], (x) => x.decayedMean(x.number(9).over(10)), infiniteSum);
}

/** 1 for n = 0. An infinity follows IEEE: times zero it gives NaN. */
export function exactProduct(values: Float64Array): number {
  return certified([values], (x) => x.product(), infiniteProduct);
}
