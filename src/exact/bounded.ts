import { add, divide, low, multiply, RELATIVE_ERROR, roundIfCertain, squareRoot } from "./double_double.ts";
import { MAGNITUDES } from "./magnitudes.ts";
import type { Real } from "./real.ts";

const { pairMin, pairMax } = MAGNITUDES;

/** True if relative error bounds hold for a value of this magnitude. */
export function isNormal(x: number): boolean {
  return Math.abs(x) > pairMin && Math.abs(x) < pairMax;
}

/** A real number known to lie within `error` of `high + lowPart`; an error of NaN bounds nothing. */
export class Bounded implements Real<Bounded> {
  readonly high: number;
  readonly lowPart: number;
  readonly error: number;

  constructor(high: number, lowPart: number, error: number) {
    this.high = high;
    this.lowPart = lowPart;
    this.error = error;
  }

  /** A double as it is. */
  static exactly(x: number): Bounded {
    return new Bounded(x, 0, 0);
  }

  plus(b: Bounded | number): Bounded {
    return typeof b === "number" ? this.#plus(b, 0, 0) : this.#plus(b.high, b.lowPart, b.error);
  }

  minus(b: Bounded | number): Bounded {
    return typeof b === "number" ? this.#plus(-b, 0, 0) : this.#plus(-b.high, -b.lowPart, b.error);
  }

  times(b: Bounded | number): Bounded {
    return typeof b === "number" ? this.#times(b, 0, 0) : this.#times(b.high, b.lowPart, b.error);
  }

  /** The error is NaN where `b` may be 0. */
  over(b: Bounded | number): Bounded {
    return typeof b === "number" ? this.#over(b, 0, 0) : this.#over(b.high, b.lowPart, b.error);
  }

  // The parts of an operand, not an object: allocations would cost more than the arithmetic.

  #plus(bHigh: number, bLow: number, bError: number): Bounded {
    const high = add(this.high, this.lowPart, bHigh, bLow);
    return new Bounded(high, low[0] as number, this.error + bError + Math.abs(high) * RELATIVE_ERROR);
  }

  #times(bHigh: number, bLow: number, bError: number): Bounded {
    const high = multiply(this.high, this.lowPart, bHigh, bLow);
    const lowPart = low[0] as number;
    const inherited = Math.abs(this.high) * bError + Math.abs(bHigh) * this.error + this.error * bError;
    // What underflows is far below an inherited error that does not.
    const isZero = (this.high === 0 && this.error === 0) || (bHigh === 0 && bError === 0);
    const isSafe = isNormal(high) || isNormal(inherited) || isZero;
    return new Bounded(high, lowPart, isSafe ? inherited + Math.abs(high) * RELATIVE_ERROR : Number.NaN);
  }

  #over(bHigh: number, bLow: number, bError: number): Bounded {
    const high = divide(this.high, this.lowPart, bHigh, bLow);
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
