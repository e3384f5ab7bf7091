import { type Bounded, isNormal } from "./bounded.ts";
import { add, low, multiply, RELATIVE_ERROR, twoSum } from "./double_double.ts";
import { sumOfIntegers } from "./dyadic.ts";

/** True if all values are one finite number. */
export function isConstant(values: Float64Array): boolean {
  const first = values[0] as number;
  for (let i = 1; i < values.length; i++) if (values[i] !== first) return false;
  return Number.isFinite(first);
}

/**
 * Deviations from the mean, times the number of values: `n * (x[i] - mean)`. Differences from a pivot near the mean
 * are exact in double-double; with D their absolute sum, the sum is off by at most n * RELATIVE_ERROR * D, the product
 * with n and the closing subtraction by RELATIVE_ERROR * (2n + 1) * D.
 */
export class Deviations {
  count = 0;
  /** Bound on the error of each deviation. */
  error = 0;
  #absolute = 0;
  #largest = 0;
  #high = new Float64Array(64);
  #low = new Float64Array(64);

  /** Reads the values `[n]`, replacing earlier ones. */
  load(values: Float64Array): this {
    const count = values.length;
    this.count = count;
    if (count > this.#high.length) {
      this.#high = new Float64Array(2 * count);
      this.#low = new Float64Array(2 * count);
    }
    this.#subtractSum(this.#subtractPivot(values));
    return this;
  }

  #subtractPivot(values: Float64Array): Bounded {
    let pivot = 0;
    for (let i = 0; i < this.count; i++) pivot += values[i] as number;
    pivot /= this.count;
    let high = 0;
    let lowPart = 0;
    let magnitude = 0;
    for (let i = 0; i < this.count; i++) {
      const difference = twoSum(values[i] as number, -pivot);
      const rest = low[0] as number;
      this.#high[i] = difference;
      this.#low[i] = rest;
      high = add(high, lowPart, difference, rest);
      lowPart = low[0] as number;
      magnitude += Math.abs(difference);
    }
    this.error = isNormal(magnitude) ? (3 * this.count + 2) * RELATIVE_ERROR * magnitude : Number.NaN;
    return { high, lowPart, error: this.error };
  }

  #subtractSum(sum: Bounded): void {
    this.#absolute = 0;
    this.#largest = 0;
    for (let i = 0; i < this.count; i++) {
      const scaled = multiply(this.#high[i] as number, this.#low[i] as number, this.count, 0);
      const deviation = add(scaled, low[0] as number, -sum.high, -sum.lowPart);
      this.#high[i] = deviation;
      this.#low[i] = low[0] as number;
      this.#absolute += Math.abs(deviation);
      this.#largest = Math.max(this.#largest, Math.abs(deviation));
    }
  }

  /** `n * (x[i] - mean)`. */
  at(i: number): Bounded {
    return { high: this.#high[i] as number, lowPart: this.#low[i] as number, error: this.error };
  }

  /** The last deviation, n times. */
  last(): Bounded {
    return this.at(this.count - 1);
  }

  /** `sum(abs(n * deviation))`. */
  absoluteSum(): Bounded {
    let high = 0;
    let lowPart = 0;
    for (let i = 0; i < this.count; i++) {
      const sign = (this.#high[i] as number) < 0 ? -1 : 1;
      high = add(high, lowPart, sign * (this.#high[i] as number), sign * (this.#low[i] as number));
      lowPart = low[0] as number;
    }
    return { high, lowPart, error: this.count * (this.error + this.#absolute * RELATIVE_ERROR) };
  }

  /**
   * `sum((n * deviation)^k)` for a whole k >= 1. A power of a deviation off by e is off by at most
   * k * e * (largest + e)^(k - 1), and e is far below the largest.
   */
  powerSum(k: number): Bounded {
    let high = 0;
    let lowPart = 0;
    let magnitude = 0;
    for (let i = 0; i < this.count; i++) {
      const deviation = this.#high[i] as number;
      const rest = this.#low[i] as number;
      let power = deviation;
      let powerLow = rest;
      for (let factor = 1; factor < k; factor++) {
        power = multiply(power, powerLow, deviation, rest);
        powerLow = low[0] as number;
      }
      high = add(high, lowPart, power, powerLow);
      lowPart = low[0] as number;
      magnitude += Math.abs(power);
    }
    const inherited = 2 * k * this.error * this.count * this.#largest ** (k - 1);
    const isSafe = isNormal(this.#largest) && isNormal(this.#largest ** k);
    const error = isSafe ? inherited + (this.count + k) * RELATIVE_ERROR * magnitude : Number.NaN;
    return { high, lowPart, error };
  }

  /** `sum((n * deviation) * (n * other deviation))`. */
  productSum(other: Deviations): Bounded {
    let high = 0;
    let lowPart = 0;
    let magnitude = 0;
    for (let i = 0; i < this.count; i++) {
      const product = multiply(
        this.#high[i] as number,
        this.#low[i] as number,
        other.#high[i] as number,
        other.#low[i] as number,
      );
      high = add(high, lowPart, product, low[0] as number);
      lowPart = low[0] as number;
      magnitude += Math.abs(product);
    }
    const inherited =
      this.error * other.#absolute + other.error * this.#absolute + this.count * this.error * other.error;
    const isSafe = isNormal(this.#largest * other.#largest);
    const error = isSafe ? inherited + (this.count + 2) * RELATIVE_ERROR * magnitude : Number.NaN;
    return { high, lowPart, error };
  }
}

/** The deviations, n times, of integers: exact. */
export function deviationIntegers(integers: readonly bigint[]): bigint[] {
  const count = BigInt(integers.length);
  const total = sumOfIntegers(integers);
  return integers.map((integer) => count * integer - total);
}
