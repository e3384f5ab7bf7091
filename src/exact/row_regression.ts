import { type Approximation, CenteredRow, IntegerRow, isSafe, NORMAL_MIN } from "./centered_row.ts";
import { add, divide, low, multiply, RELATIVE_ERROR, roundIfCertain } from "./double_double.ts";
import { roundRatio } from "./dyadic.ts";
import { hasInfinity } from "./infinity.ts";

/**
 * Least squares line of y on x with intercept over the lanes of a row: each result is the exact real value rounded once.
 * Double-double arithmetic decides nearly every value, integers the others. There is no line, and every result is NaN,
 * where all x are equal (so for n < 2 as well) or an infinity is among the values.
 */

/** `output[i] = y[i] - fitted value`. */
export function exactResiduals(y: Float64Array, x: Float64Array, output: Float64Array): void {
  if (!hasLine(y, x)) {
    output.fill(Number.NaN);
    return;
  }
  const n = y.length;
  const line = new Line(y, x);
  for (let i = 0; i < n; i++) {
    const rise = line.rise(i);
    const own = line.y.deviation(i);
    const residual = add(own, low[0] as number, -rise.high, -rise.lowPart);
    const rounding = RELATIVE_ERROR * Math.abs(residual);
    const error = line.y.deviationError(i) + rise.error + rounding;
    const rounded = quotientIfCertain(residual, low[0] as number, error, n);
    output[i] = Math.abs(rounded) > NORMAL_MIN ? rounded : line.exact().residual(i);
  }
}

/** `output[i]` = fitted value at `x[i]`. */
export function exactFits(y: Float64Array, x: Float64Array, output: Float64Array): void {
  if (!hasLine(y, x)) {
    output.fill(Number.NaN);
    return;
  }
  const n = y.length;
  const line = new Line(y, x);
  const sum = line.y.sum();
  for (let i = 0; i < n; i++) {
    const rise = line.rise(i);
    const fit = add(sum.high, sum.lowPart, rise.high, rise.lowPart);
    const error = sum.error + rise.error + RELATIVE_ERROR * Math.abs(fit);
    const rounded = quotientIfCertain(fit, low[0] as number, error, n);
    output[i] = Math.abs(rounded) > NORMAL_MIN ? rounded : line.exact().fitted(i);
  }
}

function hasLine(y: Float64Array, x: Float64Array): boolean {
  return !hasInfinity(y) && !hasInfinity(x) && x.some((value) => value !== x[0]);
}

/** `(high + lowPart) / count` rounded, NaN if the error leaves the last bit open. */
function quotientIfCertain(high: number, lowPart: number, error: number, count: number): number {
  const quotient = divide(high, lowPart, count, 0);
  return roundIfCertain(quotient, low[0] as number, error / count + RELATIVE_ERROR * Math.abs(quotient));
}

class Line {
  readonly y: CenteredRow;
  readonly #x: CenteredRow;
  readonly #slope: Approximation;
  #exact: ExactLine | undefined;

  constructor(y: Float64Array, x: Float64Array) {
    this.y = new CenteredRow(y);
    this.#x = new CenteredRow(x);
    const above = this.y.crossMoment(this.#x);
    const below = this.#x.crossMoment(this.#x);
    const slope = divide(above.high, above.lowPart, below.high, below.lowPart);
    // A divisor that is known to less than a quarter of itself says nothing.
    const relative = below.error < below.high / 4 ? (2 * below.error) / below.high : Number.NaN;
    const error = (2 * above.error) / below.high + Math.abs(slope) * (relative + RELATIVE_ERROR);
    this.#slope = { high: slope, lowPart: low[0] as number, error: isSafe(slope) ? error : Number.NaN };
  }

  /** `n * slope * (x[i] - mean)`. */
  rise(i: number): Approximation {
    const { high: slope, lowPart: slopeLow, error: slopeError } = this.#slope;
    const run = this.#x.deviation(i);
    const high = multiply(slope, slopeLow, run, low[0] as number);
    const runError = this.#x.deviationError(i);
    const error =
      Math.abs(slope) * runError + slopeError * (Math.abs(run) + runError) + RELATIVE_ERROR * Math.abs(high);
    return { high, lowPart: low[0] as number, error };
  }

  exact(): ExactLine {
    this.#exact ??= new ExactLine(this.y.values, this.#x.values);
    return this.#exact;
  }
}

class ExactLine {
  readonly #y: IntegerRow;
  readonly #x: IntegerRow;
  /** The slope is `above / below`. */
  readonly #above: bigint;
  readonly #below: bigint;

  constructor(y: Float64Array, x: Float64Array) {
    this.#y = new IntegerRow(y);
    this.#x = new IntegerRow(x);
    this.#above = this.#y.crossMoment(this.#x);
    this.#below = this.#x.crossMoment(this.#x);
  }

  residual(i: number): number {
    return this.#round(this.#y.deviation(i) * this.#below - this.#above * this.#x.deviation(i));
  }

  fitted(i: number): number {
    return this.#round(this.#y.sum * this.#below + this.#above * this.#x.deviation(i));
  }

  #round(numerator: bigint): number {
    return roundRatio(numerator, this.#y.count * this.#below, this.#y.exponent);
  }
}
