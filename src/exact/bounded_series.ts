import { Bounded, isNormal } from "./bounded.ts";
import { add, low, multiply, RELATIVE_ERROR, twoProduct, twoSum } from "./double_double.ts";
import type { LinearWeights, Series } from "./real.ts";

/**
 * A column of values in double-doubles, with bounds on errors. Loops carry pairs in local variables and a series is
 * loaded again and again: allocations would cost more than the arithmetic.
 */
export class BoundedSeries implements Series<Bounded> {
  count = 0;
  #values: Float64Array = new Float64Array();
  #isCentred = false;
  /** Deviations, their bound and sums of them: they are there once a deviation is asked for. */
  #high = new Float64Array(64);
  #low = new Float64Array(64);
  #error = 0;
  #absolute = 0;
  #largest = 0;

  /** Reads the values `[n]`, replacing earlier ones. */
  load(values: Float64Array): void {
    this.#values = values;
    this.count = values.length;
    this.#isCentred = false;
  }

  number(x: number, y?: number): Bounded {
    return Bounded.exactly(x, y);
  }

  /** By compensated summation: the error is 0 where no bit is lost. */
  sum(): Bounded {
    let sum = 0;
    let compensation = 0;
    let lost = 0; // sum of the absolute rounding errors of the compensation itself
    const values = this.#values;
    for (let i = 0; i < values.length; i++) {
      sum = twoSum(sum, values[i] as number);
      compensation = twoSum(compensation, low[0] as number);
      lost += Math.abs(low[0] as number);
    }
    const high = twoSum(sum, compensation);
    return new Bounded(high, low[0] as number, lost * (1 + values.length * 2 ** -52));
  }

  product(): Bounded {
    const values = this.#values;
    let high = 1;
    let lowPart = 0;
    for (let i = 0; i < values.length; i++) {
      high = multiply(high, lowPart, values[i] as number, 0);
      lowPart = low[0] as number;
      if (!isNormal(high)) return new Bounded(high, lowPart, Number.NaN);
    }
    return new Bounded(high, lowPart, Math.abs(high) * values.length * RELATIVE_ERROR);
  }

  /** The products are exact; every addition is off by at most RELATIVE_ERROR of the sum of absolute products. */
  weightedSum({ slope, offset }: LinearWeights, positions: Float64Array): Bounded {
    let high = 0;
    let lowPart = 0;
    let magnitude = 0;
    const values = this.#values;
    for (let i = 0; i < values.length; i++) {
      const product = twoProduct(values[i] as number, slope * (positions[i] as number) + offset);
      high = add(high, lowPart, product, low[0] as number);
      lowPart = low[0] as number;
      magnitude += Math.abs(product);
    }
    const isSafe = isNormal(magnitude) || magnitude === 0;
    return new Bounded(high, lowPart, isSafe ? (this.count + 2) * RELATIVE_ERROR * magnitude : Number.NaN);
  }

  /**
   * Horner's rule from the oldest value on: each value passes at most n products and n additions, each off by at most
   * RELATIVE_ERROR, as is the ratio itself; the sum of the weights likewise.
   */
  decayedMean(ratio: Bounded): Bounded {
    let high = 0;
    let lowPart = 0;
    let magnitude = 0;
    let weight = 0;
    let weightLow = 0;
    for (let i = 0; i < this.count; i++) {
      const value = this.#values[i] as number;
      const kept = multiply(high, lowPart, ratio.high, ratio.lowPart);
      high = add(kept, low[0] as number, value, 0);
      lowPart = low[0] as number;
      magnitude = magnitude * ratio.high + Math.abs(value);
      const keptWeight = multiply(weight, weightLow, ratio.high, ratio.lowPart);
      weight = add(keptWeight, low[0] as number, 1, 0);
      weightLow = low[0] as number;
    }
    const relative = (3 * this.count + 3) * RELATIVE_ERROR;
    const error = isNormal(magnitude) ? relative * magnitude : Number.NaN;
    return new Bounded(high, lowPart, error).over(new Bounded(weight, weightLow, relative * weight));
  }

  /** Each of the n additions is off by RELATIVE_ERROR of a partial sum. */
  dot(other: BoundedSeries): Bounded {
    let high = 0;
    let lowPart = 0;
    let magnitude = 0;
    const [x, y] = [this.#values, other.#values];
    for (let i = 0; i < this.count; i++) {
      const product = twoProduct(x[i] as number, y[i] as number);
      high = add(high, lowPart, product, low[0] as number);
      lowPart = low[0] as number;
      magnitude += Math.abs(product);
    }
    const error = isNormal(magnitude) ? 2 * RELATIVE_ERROR * (this.count + 1) * magnitude : Number.NaN;
    return new Bounded(high, lowPart, error);
  }

  deviation(i: number): Bounded {
    if (!this.#isCentred) this.#centre();
    return new Bounded(this.#high[i] as number, this.#low[i] as number, this.#error);
  }

  absoluteSum(): Bounded {
    this.#centre();
    const [highs, lows] = [this.#high, this.#low];
    let high = 0;
    let lowPart = 0;
    for (let i = 0; i < this.count; i++) {
      const sign = (highs[i] as number) < 0 ? -1 : 1;
      high = add(high, lowPart, sign * (highs[i] as number), sign * (lows[i] as number));
      lowPart = low[0] as number;
    }
    return new Bounded(high, lowPart, this.count * (this.#error + this.#absolute * RELATIVE_ERROR));
  }

  /**
   * A power of a deviation off by e is off by at most k * e * (largest + e)^(k - 1), and e is far below the largest.
   */
  powerSum(k: number): Bounded {
    if (k === 2) return this.productSum(this);
    this.#centre();
    const [highs, lows] = [this.#high, this.#low];
    let high = 0;
    let lowPart = 0;
    let magnitude = 0;
    for (let i = 0; i < this.count; i++) {
      const deviation = highs[i] as number;
      const rest = lows[i] as number;
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
    const inherited = 2 * k * this.#error * this.count * this.#largest ** (k - 1);
    const isSafe = isNormal(this.#largest) && isNormal(this.#largest ** k);
    const error = isSafe ? inherited + (this.count + k) * RELATIVE_ERROR * magnitude : Number.NaN;
    return new Bounded(high, lowPart, error);
  }

  productSum(other: BoundedSeries): Bounded {
    this.#centre();
    other.#centre();
    const [xHigh, xLow, yHigh, yLow] = [this.#high, this.#low, other.#high, other.#low];
    let high = 0;
    let lowPart = 0;
    let magnitude = 0;
    for (let i = 0; i < this.count; i++) {
      const product = multiply(xHigh[i]!, xLow[i]!, yHigh[i]!, yLow[i]!);
      high = add(high, lowPart, product, low[0] as number);
      lowPart = low[0] as number;
      magnitude += Math.abs(product);
    }
    const inherited =
      this.#error * other.#absolute + other.#error * this.#absolute + this.count * this.#error * other.#error;
    const isSafe = isNormal(this.#largest * other.#largest);
    const error = isSafe ? inherited + (this.count + 2) * RELATIVE_ERROR * magnitude : Number.NaN;
    return new Bounded(high, lowPart, error);
  }

  /**
   * Deviations from the mean. Differences from a pivot near the mean are exact in double-double; with D their absolute
   * sum, the sum is off by at most n * RELATIVE_ERROR * D, the product with n and the closing subtraction by
   * RELATIVE_ERROR * (2n + 1) * D.
   */
  #centre(): void {
    if (this.#isCentred) return;
    this.#isCentred = true;
    if (this.count > this.#high.length) {
      this.#high = new Float64Array(2 * this.count);
      this.#low = new Float64Array(2 * this.count);
    }
    this.#subtractSum(this.#subtractPivot());
  }

  #subtractPivot(): Bounded {
    const [values, highs, lows] = [this.#values, this.#high, this.#low];
    let pivot = 0;
    for (let i = 0; i < values.length; i++) pivot += values[i] as number;
    pivot /= values.length;
    let high = 0;
    let lowPart = 0;
    let magnitude = 0;
    for (let i = 0; i < values.length; i++) {
      const difference = twoSum(values[i] as number, -pivot);
      const rest = low[0] as number;
      highs[i] = difference;
      lows[i] = rest;
      high = add(high, lowPart, difference, rest);
      lowPart = low[0] as number;
      magnitude += Math.abs(difference);
    }
    const isSafe = isNormal(magnitude) || magnitude === 0;
    this.#error = isSafe ? (3 * this.count + 2) * RELATIVE_ERROR * magnitude : Number.NaN;
    return new Bounded(high, lowPart, this.#error);
  }

  #subtractSum(sum: Bounded): void {
    const [highs, lows, count] = [this.#high, this.#low, this.count];
    let absolute = 0;
    let largest = 0;
    for (let i = 0; i < count; i++) {
      const scaled = multiply(highs[i] as number, lows[i] as number, count, 0);
      const deviation = add(scaled, low[0] as number, -sum.high, -sum.lowPart);
      highs[i] = deviation;
      lows[i] = low[0] as number;
      absolute += Math.abs(deviation);
      largest = Math.max(largest, Math.abs(deviation));
    }
    this.#absolute = absolute;
    this.#largest = largest;
  }
}
