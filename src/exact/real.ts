/**
 * The numbers in which a statistic is defined: once, for doubles with an error bound (`Bounded`) and for ratios of
 * integers (`Exact`). A plain number as operand stands for itself.
 */
export interface Real<T> {
  plus(b: T | number): T;
  minus(b: T | number): T;
  times(b: T | number): T;
  over(b: T | number): T;
  abs(): T;
  /** The square root of a number above 0. */
  root(): T;
}

/** Weights `slope * position + offset`; they and all intermediate products are whole numbers below 2^53. */
export interface LinearWeights {
  readonly slope: number;
  readonly offset: number;
}

/**
 * A column of n values. Deviations from the mean are n times too large, `n * (x[i] - mean)`: for integers they are
 * integers, and no mean is ever rounded.
 */
export interface Series<T> {
  readonly count: number;
  /** A number of the kind of this series: a double or the sum of two. */
  number(x: number, y?: number): T;
  sum(): T;
  product(): T;
  /** `sum(weight(positions[i]) * value[i])`. */
  weightedSum(weights: LinearWeights, positions: Float64Array): T;
  /** The mean with the weights `ratio^k`, k = 0 for the last value, n >= 1. */
  decayedMean(ratio: T): T;
  /** `sum(value[i] * other[i])`. */
  dot(other: this): T;
  deviation(i: number): T;
  /** `sum(abs(deviation))`. */
  absoluteSum(): T;
  /** `sum(deviation^k)` for a whole k >= 1. */
  powerSum(k: number): T;
  /** `sum(deviation * deviation of other)`. */
  productSum(other: this): T;
}
