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
import { MAGNITUDES } from "./magnitudes.ts";
import type { Real } from "./real.ts";

const { pairMin, pairMax } = MAGNITUDES;

/** True if relative error bounds hold for a value of this magnitude. */
export function isNormal(x: number): boolean {
  const size = Math.abs(x);
  return size > pairMin && size < pairMax;
}

/** A real number known to lie within `error` of `high + lowPart`; an error of NaN bounds nothing. */
export class Bounded implements Real<Bounded> {
  // `declare`: a field that first is undefined costs more than the arithmetic.
  declare readonly high: number;
  declare readonly lowPart: number;
  declare readonly error: number;

  constructor(high: number, lowPart: number, error: number) {
    this.high = high;
    this.lowPart = lowPart;
    this.error = error;
  }

  /** The sum of two doubles. */
  static exactly(x: number, y = 0): Bounded {
    const high = twoSum(x, y);
    return new Bounded(high, low[0] as number, 0);
  }

  plus(b: Bounded | number): Bounded {
    const high = add(this.high, this.lowPart, highOf(b), lowOf(b));
    return new Bounded(high, low[0] as number, this.error + errorOf(b) + Math.abs(high) * RELATIVE_ERROR);
  }

  minus(b: Bounded | number): Bounded {
    const high = add(this.high, this.lowPart, -highOf(b), -lowOf(b));
    return new Bounded(high, low[0] as number, this.error + errorOf(b) + Math.abs(high) * RELATIVE_ERROR);
  }

  times(b: Bounded | number): Bounded {
    const bHigh = highOf(b);
    const bError = errorOf(b);
    const high = multiply(this.high, this.lowPart, bHigh, lowOf(b));
    const lowPart = low[0] as number;
    const inherited = Math.abs(this.high) * bError + Math.abs(bHigh) * this.error + this.error * bError;
    // What underflows is far below an inherited error that does not.
    const isSafe = isNormal(high) || isNormal(inherited) || isZero(this) || isZero(b);
    return new Bounded(high, lowPart, isSafe ? inherited + Math.abs(high) * RELATIVE_ERROR : Number.NaN);
  }

  /** The error is NaN where `b` may be 0. */
  over(b: Bounded | number): Bounded {
    const bHigh = highOf(b);
    const bError = errorOf(b);
    const high = divide(this.high, this.lowPart, bHigh, lowOf(b));
    const lowPart = low[0] as number;
    const inherited = (this.error + Math.abs(high) * bError) / (Math.abs(bHigh) - bError);
    // The product back to the dividend loses bits where that is tiny, however large the quotient.
    const isLossless = isNormal(high) && isNormal(this.high);
    const isSafe = isLossless || (this.high === 0 && (this.error === 0 || isNormal(inherited)));
    const error = inherited + Math.abs(high) * RELATIVE_ERROR;
    return new Bounded(high, lowPart, isSafe && Math.abs(bHigh) > 2 * bError ? error : Number.NaN);
  }

  abs(): Bounded {
    return this.high < 0 ? new Bounded(-this.high, -this.lowPart, this.error) : this;
  }

  /** Roots differ by at most the difference of the squares over either root. */
  root(): Bounded {
    const high = squareRoot(this.high, this.lowPart);
    const lowPart = low[0] as number;
    const isSafe = this.high > 2 * this.error && isNormal(this.high);
    return new Bounded(high, lowPart, isSafe ? this.error / high + high * RELATIVE_ERROR : Number.NaN);
  }

  /**
   * The nearest double, NaN where the bound does not determine it; +0 for zero. An error is 0 only where the parts are
   * the exact value, at any magnitude: then their sum rounds it.
   */
  rounded(): number {
    if (this.error === 0) return this.high + this.lowPart + 0;
    const rounded = roundIfCertain(this.high, this.lowPart, this.error);
    return isNormal(rounded) ? rounded : Number.NaN;
  }
}

function isZero(b: Bounded | number): boolean {
  return highOf(b) === 0 && errorOf(b) === 0;
}

// The parts of an operand: to make an object of a number would cost more than the arithmetic.

function highOf(b: Bounded | number): number {
  return typeof b === "number" ? b : b.high;
}

function lowOf(b: Bounded | number): number {
  return typeof b === "number" ? 0 : b.lowPart;
}

function errorOf(b: Bounded | number): number {
  return typeof b === "number" ? 0 : b.error;
}
