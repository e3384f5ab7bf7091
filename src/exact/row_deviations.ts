import type { Bounded } from "./dispersion.ts";
import { add, low, multiply, RELATIVE_ERROR, twoSum } from "./double_double.ts";

/**
 * Deviations of every lane of a row from the mean of the row, times the number n of lanes: `n * (values[i] - mean)`.
 * With D the sum of the absolute differences from a pivot near the mean, which are exact in double-double, their sum is
 * off by at most n * RELATIVE_ERROR * D, the product with n and the closing subtraction by RELATIVE_ERROR * (2n + 1) * D.
 */
export class RowDeviations {
  readonly #values: Float64Array;
  readonly #pivot: number;
  /** Sum of the differences from the pivot. */
  readonly #sumHigh: number;
  readonly #sumLow: number;
  readonly #error: number;

  constructor(values: Float64Array) {
    const count = values.length;
    this.#values = values;
    this.#pivot = values.reduce((sum, value) => sum + value, 0) / count;
    let high = 0;
    let lowPart = 0;
    let magnitude = 0;
    for (let i = 0; i < count; i++) {
      const difference = twoSum(values[i] as number, -this.#pivot);
      high = add(high, lowPart, difference, low[0] as number);
      lowPart = low[0] as number;
      magnitude += Math.abs(difference);
    }
    this.#sumHigh = high;
    this.#sumLow = lowPart;
    this.#error = (3 * count + 2) * RELATIVE_ERROR * magnitude;
  }

  at(i: number): Bounded {
    const difference = twoSum(this.#values[i] as number, -this.#pivot);
    const scaled = multiply(difference, low[0] as number, this.#values.length, 0);
    const high = add(scaled, low[0] as number, -this.#sumHigh, -this.#sumLow);
    return { high, lowPart: low[0] as number, error: this.#error };
  }
}
