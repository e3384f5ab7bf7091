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
import { hasInfinity, infiniteSum } from "./infinity.ts";

/**
 * How far values lie from their mean: each result is the exact real value rounded once to the nearest double.
 * Double-double deviations carry an error bound through every step; where the bound does not determine the last bit,
 * integers do. A window with an infinity has no dispersion: NaN.
 */

/** A real number known to lie within `error` of `high + lowPart`; an error of NaN says nothing. */
export interface Bounded {
  readonly high: number;
  readonly lowPart: number;
  readonly error: number;
}

/** Outside these magnitudes parts of double-doubles may underflow or overflow: integers decide. */
const MAGNITUDE_MIN = 2 ** -900;
const MAGNITUDE_MAX = 2 ** 900;

/** True if relative error bounds hold for a value of this magnitude. */
export function isNormal(x: number): boolean {
  return Math.abs(x) > MAGNITUDE_MIN && Math.abs(x) < MAGNITUDE_MAX;
}

/** A double as it is. */
export function exactly(x: number): Bounded {
  return { high: x, lowPart: 0, error: 0 };
}

/** `a + b`. */
export function plus(a: Bounded, b: Bounded): Bounded {
  const high = add(a.high, a.lowPart, b.high, b.lowPart);
  return { high, lowPart: low[0] as number, error: a.error + b.error + Math.abs(high) * RELATIVE_ERROR };
}

/** `a - b`. */
export function minus(a: Bounded, b: Bounded): Bounded {
  return plus(a, { high: -b.high, lowPart: -b.lowPart, error: b.error });
}

/** `a * b`. */
export function times(a: Bounded, b: Bounded): Bounded {
  const high = multiply(a.high, a.lowPart, b.high, b.lowPart);
  const lowPart = low[0] as number;
  const inherited = Math.abs(a.high) * b.error + Math.abs(b.high) * a.error + a.error * b.error;
  const isSafe = isNormal(high) || a.high === 0 || b.high === 0;
  return { high, lowPart, error: isSafe ? inherited + Math.abs(high) * RELATIVE_ERROR : Number.NaN };
}

/** `a / b`; says nothing where b may be 0. */
export function over(a: Bounded, b: Bounded): Bounded {
  const high = divide(a.high, a.lowPart, b.high, b.lowPart);
  const lowPart = low[0] as number;
  const inherited = (a.error + Math.abs(high) * b.error) / (Math.abs(b.high) - b.error);
  // The product back to `a` inside the division loses bits where `a` is tiny, however large the quotient.
  const isSafe = Math.abs(b.high) > 2 * b.error && (a.high === 0 || (isNormal(high) && isNormal(a.high)));
  return { high, lowPart, error: isSafe ? inherited + Math.abs(high) * RELATIVE_ERROR : Number.NaN };
}

/** The square root of a positive number: roots differ by at most the difference of the squares over either root. */
export function rootOf(a: Bounded): Bounded {
  const high = squareRoot(a.high, a.lowPart);
  const lowPart = low[0] as number;
  const isSafe = a.high > 2 * a.error && isNormal(a.high);
  return { high, lowPart, error: isSafe ? a.error / high + high * RELATIVE_ERROR : Number.NaN };
}

/** The double nearest to a bounded number, or NaN if the bound does not decide which one that is. */
export function decide({ high, lowPart, error }: Bounded): number {
  const rounded = roundIfCertain(high, lowPart, error);
  return isNormal(rounded) ? rounded : Number.NaN;
}

/** True if all values are one finite number. */
export function isConstant(values: Float64Array): boolean {
  const first = values[0] as number;
  for (let i = 1; i < values.length; i++) if (values[i] !== first) return false;
  return Number.isFinite(first);
}

/** The sum of the values: every addition is off by at most RELATIVE_ERROR of the sum of absolute values. */
export function sumOf(values: Float64Array): Bounded {
  let high = 0;
  let lowPart = 0;
  let magnitude = 0;
  for (let i = 0; i < values.length; i++) {
    high = add(high, lowPart, values[i] as number, 0);
    lowPart = low[0] as number;
    magnitude += Math.abs(values[i] as number);
  }
  const error = isNormal(magnitude) ? magnitude * values.length * RELATIVE_ERROR : Number.NaN;
  return { high, lowPart, error };
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

  /** The last deviation, n times. */
  last(): Bounded {
    const i = this.count - 1;
    return { high: this.#high[i] as number, lowPart: this.#low[i] as number, error: this.error };
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
  const total = integers.reduce((sum, integer) => sum + integer, 0n);
  return integers.map((integer) => count * integer - total);
}

/** `sum(x[i] * y[i])`. */
export function dotIntegers(x: readonly bigint[], y: readonly bigint[]): bigint {
  return x.reduce((sum, integer, i) => sum + integer * (y[i] as bigint), 0n);
}

/** The double nearest to `sign(signed) * sqrt(signed^2 * factor / denominator)`. */
export function roundSignedRoot(signed: bigint, factor: bigint, denominator: bigint): number {
  const magnitude = roundSquareRoot(signed * signed * factor, denominator, 0);
  return signed < 0n ? -magnitude : magnitude;
}

const deviations = new Deviations();

/** Mean of the absolute deviations of the values `[n]` from their mean; exactly 0 for equal values. */
export function exactMeanAbsoluteDeviation(values: Float64Array): number {
  if (isConstant(values)) return 0;
  const count = values.length;
  const sum = deviations.load(values).absoluteSum();
  const rounded = decide(over(sum, exactly(count * count)));
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(values)) return Number.NaN;
  const { integers, exponent } = alignExponents(values);
  const exact = deviationIntegers(integers).reduce((total, d) => total + (d < 0n ? -d : d), 0n);
  return roundRatio(exact, BigInt(count) ** 2n, exponent);
}

/** The last of the values `[n]` minus their mean; an infinity follows IEEE, its mean being itself. */
export function exactLastDeviation(values: Float64Array): number {
  if (isConstant(values)) return 0;
  const count = values.length;
  const scaled = times(exactly(values[count - 1] as number), exactly(count));
  const rounded = decide(over(minus(scaled, sumOf(values)), exactly(count)));
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(values)) return (values[count - 1] as number) - infiniteSum(values);
  const { integers, exponent } = alignExponents(values);
  return roundRatio(deviationIntegers(integers).at(-1) as bigint, BigInt(count), exponent);
}

/** The last deviation from the mean over the sample standard deviation (ddof 1); NaN if that is 0 or n < 2. */
export function exactLastZScore(values: Float64Array): number {
  const count = values.length;
  if (count < 2 || isConstant(values)) return Number.NaN;
  const squares = deviations.load(values).powerSum(2);
  const rounded = decide(over(deviations.last(), rootOf(over(squares, exactly(count - 1)))));
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(values)) return Number.NaN;
  const exact = deviationIntegers(alignExponents(values).integers);
  return roundSignedRoot(exact.at(-1) as bigint, BigInt(count - 1), dotIntegers(exact, exact));
}

/** Mean over sample standard deviation (ddof 1) of the values `[n]`; NaN if that is 0 or n < 2. */
export function exactMeanOverDeviation(values: Float64Array): number {
  const count = values.length;
  if (count < 2 || isConstant(values)) return Number.NaN;
  const squares = deviations.load(values).powerSum(2);
  const rounded = decide(over(sumOf(values), rootOf(over(squares, exactly(count - 1)))));
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(values)) return Number.NaN;
  const { integers } = alignExponents(values);
  const exact = deviationIntegers(integers);
  const total = integers.reduce((sum, integer) => sum + integer, 0n);
  return roundSignedRoot(total, BigInt(count - 1), dotIntegers(exact, exact));
}

/**
 * The largest drop below the running peak, over that peak, among the values `[n]` in their order; NaN if the first
 * value is not above 0 or a value is infinite. Below one peak the lowest value drops most, and rounding keeps order.
 */
export function exactDrawdown(values: Float64Array): number {
  let peak = values[0] as number;
  if (!(peak > 0) || hasInfinity(values)) return Number.NaN;
  let lowest = peak;
  let largest = 0;
  for (let i = 1; i < values.length; i++) {
    const value = values[i] as number;
    if (value > peak) {
      largest = Math.max(largest, relativeDrop(peak, lowest));
      peak = value;
      lowest = value;
    } else if (value < lowest) lowest = value;
  }
  return Math.max(largest, relativeDrop(peak, lowest));
}

/** `(peak - value) / peak`. */
function relativeDrop(peak: number, value: number): number {
  if (value === peak) return 0;
  const high = twoSum(peak, -value);
  const rounded = decide(over({ high, lowPart: low[0] as number, error: 0 }, exactly(peak)));
  if (!Number.isNaN(rounded) && isNormal(peak)) return rounded;
  const [top, bottom] = alignExponents(Float64Array.of(peak, value)).integers as [bigint, bigint];
  return roundRatio(top - bottom, top, 0);
}
