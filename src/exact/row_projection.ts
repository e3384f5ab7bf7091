import { type Bounded, certified, exactly, isNormal, minus, over, times } from "./bounded.ts";
import { add, low, RELATIVE_ERROR, twoProduct } from "./double_double.ts";
import { alignExponents, dotIntegers, roundRatio } from "./dyadic.ts";
import { hasInfinity } from "./infinity.ts";

/**
 * The lanes of a row as vectors x and y: the part of x along y, and the part perpendicular to it. Each result is the
 * exact real value rounded once; double-double arithmetic suffices for nearly every value, integers give the others.
 * NaN where y is the zero vector or a value is infinite.
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
  const factor = over(dotProduct(x, y), dotProduct(y, y));
  let exact: ExactProjection | undefined;
  for (let i = 0; i < x.length; i++) {
    const along = times(factor, exactly(y[i] as number));
    const rounded = certified(isRejection ? minus(exactly(x[i] as number), along) : along);
    if (Number.isNaN(rounded)) {
      exact ??= new ExactProjection(x, y);
      output[i] = isRejection ? exact.rejection(i) : exact.projection(i);
    } else output[i] = rounded;
  }
}

/** `x . y`; each of the n additions is off by RELATIVE_ERROR of a partial sum. */
function dotProduct(x: Float64Array, y: Float64Array): Bounded {
  let high = 0;
  let lowPart = 0;
  let magnitude = 0;
  for (let i = 0; i < x.length; i++) {
    const product = twoProduct(x[i] as number, y[i] as number);
    high = add(high, lowPart, product, low[0] as number);
    lowPart = low[0] as number;
    magnitude += Math.abs(product);
  }
  const error = isNormal(magnitude) ? 2 * RELATIVE_ERROR * (x.length + 1) * magnitude : Number.NaN;
  return { high, lowPart, error };
}

/** The same in integers: `x[i] = integer * 2^exponent`, the factor above / below. */
class ExactProjection {
  readonly #x: readonly bigint[];
  readonly #y: readonly bigint[];
  readonly #exponent: number;
  readonly #above: bigint;
  readonly #below: bigint;

  constructor(x: Float64Array, y: Float64Array) {
    const { integers, exponent } = alignExponents(x);
    this.#x = integers;
    this.#y = alignExponents(y).integers;
    this.#exponent = exponent;
    this.#above = dotIntegers(this.#x, this.#y);
    this.#below = dotIntegers(this.#y, this.#y);
  }

  projection(i: number): number {
    return roundRatio((this.#y[i] as bigint) * this.#above, this.#below, this.#exponent);
  }

  rejection(i: number): number {
    const numerator = (this.#x[i] as bigint) * this.#below - (this.#y[i] as bigint) * this.#above;
    return roundRatio(numerator, this.#below, this.#exponent);
  }
}
