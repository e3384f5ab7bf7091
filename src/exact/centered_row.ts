import { add, low, multiply, RELATIVE_ERROR, twoProduct, twoSum } from "./double_double.ts";
import { alignExponents } from "./dyadic.ts";

/**
 * A row of values about its mean: what standard scores and regressions over the lanes of a row are made of. Once in
 * double-double arithmetic with bounds on the errors, once in integers for the values that the bounds do not decide.
 * All results are n times too large, so that nothing is divided.
 */

/** Below this the relative error bounds of double-double arithmetic no longer hold: integers decide. */
export const NORMAL_MIN = 2 ** -900;
const NORMAL_MAX = 2 ** 900;

/** True if double-double arithmetic keeps its bounds on numbers of that magnitude. */
export function isSafe(value: number): boolean {
  return Math.abs(value) > NORMAL_MIN && Math.abs(value) < NORMAL_MAX;
}

/** A number `high + lowPart` that is off by at most `error`; an error that is not finite means: unknown. */
export interface Approximation {
  readonly high: number;
  readonly lowPart: number;
  readonly error: number;
}

/** A row in double-double arithmetic. Deviations are taken from a pivot near the mean: the smaller, the tighter the bounds. */
export class CenteredRow {
  readonly values: Float64Array;
  readonly #pivot: number;
  /** Sum of the deviations from the pivot. */
  readonly #sumHigh: number;
  readonly #sumLow: number;
  /** Sum of the absolute deviations from the pivot. */
  readonly #spread: number;

  constructor(values: Float64Array) {
    this.values = values;
    this.#pivot = values.reduce((sum, value) => sum + value, 0) / values.length;
    let high = 0;
    let lowPart = 0;
    let spread = 0;
    for (let i = 0; i < values.length; i++) {
      const deviation = twoSum(values[i] as number, -this.#pivot);
      high = add(high, lowPart, deviation, low[0] as number);
      lowPart = low[0] as number;
      spread += Math.abs(deviation);
    }
    this.#sumHigh = high;
    this.#sumLow = lowPart;
    this.#spread = spread;
  }

  /** `n * (values[i] - mean)`: the high part, the low part in `low[0]`. */
  deviation(i: number): number {
    const deviation = twoSum(this.values[i] as number, -this.#pivot);
    const scaled = multiply(deviation, low[0] as number, this.values.length, 0);
    return add(scaled, low[0] as number, -this.#sumHigh, -this.#sumLow);
  }

  /** Bound on the error of `deviation(i)`: one rounding of each of its terms and one of each partial sum. */
  deviationError(i: number): number {
    const n = this.values.length;
    const own = n * Math.abs((this.values[i] as number) - this.#pivot);
    return 2 * RELATIVE_ERROR * (own + (n + 1) * this.#spread);
  }

  /** The sum of the values. */
  sum(): Approximation {
    const n = this.values.length;
    const pivots = twoProduct(n, this.#pivot);
    const high = add(pivots, low[0] as number, this.#sumHigh, this.#sumLow);
    const error = 2 * RELATIVE_ERROR * (Math.abs(high) + (n + 1) * this.#spread);
    return { high, lowPart: low[0] as number, error };
  }

  /**
   * `n * sum((x - mean of x)(y - mean of y))`: n(n-1) times the sample covariance. The products are off by
   * RELATIVE_ERROR each, each of the n additions by as much of the partial sum, the closing subtraction likewise; all
   * are at most n * sum(abs(x-p) * abs(y-p')) or, by Cauchy and Schwarz, sqrt of the two squares' product.
   */
  crossMoment(other: CenteredRow): Approximation {
    const n = this.values.length;
    let high = 0;
    let lowPart = 0;
    let squareX = 0;
    let squareY = 0;
    for (let i = 0; i < n; i++) {
      const dx = twoSum(this.values[i] as number, -this.#pivot);
      const dxLow = low[0] as number;
      const dy = twoSum(other.values[i] as number, -other.#pivot);
      const product = multiply(dx, dxLow, dy, low[0] as number);
      high = add(high, lowPart, product, low[0] as number);
      lowPart = low[0] as number;
      squareX += dx * dx;
      squareY += dy * dy;
    }
    const scaled = multiply(high, lowPart, n, 0);
    const scaledLow = low[0] as number;
    const sums = multiply(this.#sumHigh, this.#sumLow, other.#sumHigh, other.#sumLow);
    const moment = add(scaled, scaledLow, -sums, -(low[0] as number));
    const magnitude = n * Math.sqrt(squareX * squareY);
    const error = isSafe(magnitude) ? magnitude * (n + 4) * 4 * RELATIVE_ERROR : Number.NaN;
    return { high: moment, lowPart: low[0] as number, error };
  }
}

/** A row in integers: `values[i] = integers[i] * 2^exponent`. */
export class IntegerRow {
  readonly integers: readonly bigint[];
  readonly exponent: number;
  /** The sum of the integers. */
  readonly sum: bigint;
  readonly count: bigint;

  constructor(values: Float64Array) {
    const { integers, exponent } = alignExponents(values);
    this.integers = integers;
    this.exponent = exponent;
    this.sum = integers.reduce((sum, integer) => sum + integer, 0n);
    this.count = BigInt(integers.length);
  }

  /** `n * (integers[i] - mean)`. */
  deviation(i: number): bigint {
    return this.count * (this.integers[i] as bigint) - this.sum;
  }

  /** `n * sum((x - mean of x)(y - mean of y))` of the integers. */
  crossMoment(other: IntegerRow): bigint {
    const products = this.integers.reduce(
      (sum, integer, i) => sum + integer * (other.integers[i] as bigint),
      0n,
    );
    return this.count * products - this.sum * other.sum;
  }
}
