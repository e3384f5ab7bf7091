import { type Bounded, certified, exactly, minus, over, plus, sumOf, times } from "./bounded.ts";
import { Deviations, deviationIntegers, isConstant } from "./deviations.ts";
import { alignExponents, dotIntegers, roundRatio, sumOfIntegers } from "./dyadic.ts";
import { hasInfinity } from "./infinity.ts";

/**
 * Least squares line of y on x with intercept over the lanes of a row: each result is the exact real value rounded
 * once. Double-double arithmetic suffices for nearly every value, integers give the others. Every result is NaN if all
 * x are equal (also for n < 2) or a value is infinite.
 */

/** `output[i] = y[i] - fitted value`. */
export function exactResiduals(y: Float64Array, x: Float64Array, output: Float64Array): void {
  if (!hasLine(y, x)) {
    output.fill(Number.NaN);
    return;
  }
  const line = new Line(y, x);
  const count = exactly(y.length);
  for (let i = 0; i < y.length; i++) {
    const rounded = certified(over(minus(ofY.at(i), line.rise(i)), count));
    output[i] = Number.isNaN(rounded) ? line.exact().residual(i) : rounded;
  }
}

/** `output[i]` = fitted value at `x[i]`. */
export function exactFittedValues(y: Float64Array, x: Float64Array, output: Float64Array): void {
  if (!hasLine(y, x)) {
    output.fill(Number.NaN);
    return;
  }
  const line = new Line(y, x);
  const sum = sumOf(y);
  const count = exactly(y.length);
  for (let i = 0; i < y.length; i++) {
    const rounded = certified(over(plus(sum, line.rise(i)), count));
    output[i] = Number.isNaN(rounded) ? line.exact().fittedValue(i) : rounded;
  }
}

function hasLine(y: Float64Array, x: Float64Array): boolean {
  return x.length > 1 && !isConstant(x) && !hasInfinity(x) && !hasInfinity(y);
}

const ofY = new Deviations();
const ofX = new Deviations();

/** The line of the vectors in `ofY` and `ofX`. */
class Line {
  readonly #y: Float64Array;
  readonly #x: Float64Array;
  readonly #slope: Bounded;
  #exact: ExactLine | undefined;

  constructor(y: Float64Array, x: Float64Array) {
    this.#y = y;
    this.#x = x;
    this.#slope = over(ofX.load(x).productSum(ofY.load(y)), ofX.powerSum(2));
  }

  /** `n * slope * (x[i] - mean)`. */
  rise(i: number): Bounded {
    return times(this.#slope, ofX.at(i));
  }

  exact(): ExactLine {
    this.#exact ??= new ExactLine(this.#y, this.#x);
    return this.#exact;
  }
}

/** The line in integers: `y[i] = integers[i] * 2^exponent`, deviations from the mean n times, slope above / below. */
class ExactLine {
  readonly #sum: bigint;
  readonly #exponent: number;
  readonly #ofY: readonly bigint[];
  readonly #ofX: readonly bigint[];
  readonly #above: bigint;
  readonly #below: bigint;

  constructor(y: Float64Array, x: Float64Array) {
    const { integers, exponent } = alignExponents(y);
    this.#sum = sumOfIntegers(integers);
    this.#exponent = exponent;
    this.#ofY = deviationIntegers(integers);
    this.#ofX = deviationIntegers(alignExponents(x).integers);
    this.#above = dotIntegers(this.#ofX, this.#ofY);
    this.#below = dotIntegers(this.#ofX, this.#ofX);
  }

  residual(i: number): number {
    return this.#round((this.#ofY[i] as bigint) * this.#below - this.#above * (this.#ofX[i] as bigint));
  }

  fittedValue(i: number): number {
    return this.#round(this.#sum * this.#below + this.#above * (this.#ofX[i] as bigint));
  }

  #round(numerator: bigint): number {
    return roundRatio(numerator, BigInt(this.#ofY.length) * this.#below, this.#exponent);
  }
}
