import { type Approximation, isSafe, NORMAL_MIN } from "./centered_row.ts";
import { add, divide, low, multiply, RELATIVE_ERROR, roundIfCertain, twoProduct } from "./double_double.ts";
import { alignExponents, roundRatio } from "./dyadic.ts";
import { hasInfinity } from "./infinity.ts";

/**
 * The lanes of a row as vectors x and y: the part of x along y, and the part at right angles to it. Each result is the
 * exact real value rounded once; double-double arithmetic decides nearly every value, integers the others. Nothing
 * has a part along the zero vector, nor along or of an infinity: NaN.
 */

/** `output[i] = y[i] * (x . y) / (y . y)`. */
export function exactProjections(x: Float64Array, y: Float64Array, output: Float64Array): void {
  project(x, y, output, false);
}

/** `output[i] = x[i] - y[i] * (x . y) / (y . y)`. */
export function exactRejections(x: Float64Array, y: Float64Array, output: Float64Array): void {
  project(x, y, output, true);
}

function project(x: Float64Array, y: Float64Array, output: Float64Array, isRejection: boolean): void {
  if (hasInfinity(x) || hasInfinity(y) || y.every((value) => value === 0)) {
    output.fill(Number.NaN);
    return;
  }
  const factor = quotient(dotProduct(x, y), dotProduct(y, y));
  let exact: ExactProjection | undefined;
  for (let i = 0; i < x.length; i++) {
    let high = multiply(factor.high, factor.lowPart, y[i] as number, 0);
    let error = factor.error * Math.abs(y[i] as number) + RELATIVE_ERROR * Math.abs(high);
    if (isRejection) {
      high = add(x[i] as number, 0, -high, -(low[0] as number));
      error += RELATIVE_ERROR * Math.abs(high);
    }
    const rounded = roundIfCertain(high, low[0] as number, error);
    if (Math.abs(rounded) > NORMAL_MIN) {
      output[i] = rounded;
      continue;
    }
    exact ??= new ExactProjection(x, y);
    output[i] = isRejection ? exact.rejection(i) : exact.projection(i);
  }
}

/** `x . y`; each of the n additions is off by RELATIVE_ERROR of a partial sum. */
function dotProduct(x: Float64Array, y: Float64Array): Approximation {
  let high = 0;
  let lowPart = 0;
  let magnitude = 0;
  for (let i = 0; i < x.length; i++) {
    const product = twoProduct(x[i] as number, y[i] as number);
    high = add(high, lowPart, product, low[0] as number);
    lowPart = low[0] as number;
    magnitude += Math.abs(product);
  }
  const error = isSafe(magnitude) ? 2 * RELATIVE_ERROR * (x.length + 1) * magnitude : Number.NaN;
  return { high, lowPart, error };
}

/** For a divisor that is a sum of squares: its error is small beside it. */
function quotient(above: Approximation, below: Approximation): Approximation {
  const high = divide(above.high, above.lowPart, below.high, below.lowPart);
  const relative = (2 * below.error) / below.high + RELATIVE_ERROR;
  const error = isSafe(high) ? (2 * above.error) / below.high + Math.abs(high) * relative : Number.NaN;
  return { high, lowPart: low[0] as number, error };
}

class ExactProjection {
  readonly #x: readonly bigint[];
  readonly #y: readonly bigint[];
  readonly #exponent: number;
  /** The factor is `above / below`. */
  readonly #above: bigint;
  readonly #below: bigint;

  constructor(x: Float64Array, y: Float64Array) {
    const alignedX = alignExponents(x);
    this.#x = alignedX.integers;
    this.#y = alignExponents(y).integers;
    this.#exponent = alignedX.exponent;
    this.#above = this.#x.reduce((sum, integer, i) => sum + integer * (this.#y[i] as bigint), 0n);
    this.#below = this.#y.reduce((sum, integer) => sum + integer * integer, 0n);
  }

  projection(i: number): number {
    return roundRatio((this.#y[i] as bigint) * this.#above, this.#below, this.#exponent);
  }

  rejection(i: number): number {
    const numerator = (this.#x[i] as bigint) * this.#below - (this.#y[i] as bigint) * this.#above;
    return roundRatio(numerator, this.#below, this.#exponent);
  }
}
