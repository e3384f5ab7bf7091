import { alignExponents, dotIntegers, magnitude, sumOfIntegers } from "./dyadic.ts";
import { Exact } from "./exact_real.ts";
import type { LinearWeights, Series } from "./real.ts";

/** A column of finite values as integers over one exponent: every sum is exact. */
export class ExactSeries implements Series<Exact> {
  readonly count: number;
  readonly #integers: readonly bigint[];
  readonly #exponent: number;
  #centred: readonly bigint[] | undefined;

  constructor(values: Float64Array) {
    const { integers, exponent } = alignExponents(values);
    this.count = integers.length;
    this.#integers = integers;
    this.#exponent = exponent;
  }

  number(x: number, y?: number): Exact {
    return Exact.exactly(x, y);
  }

  sum(): Exact {
    return new Exact(sumOfIntegers(this.#integers), this.#exponent);
  }

  product(): Exact {
    const product = this.#integers.reduce((product, integer) => product * integer, 1n);
    return new Exact(product, this.count * this.#exponent);
  }

  weightedSum({ slope, offset }: LinearWeights, positions: Float64Array): Exact {
    const weights = this.#integers.map((_, i) => BigInt(slope * (positions[i] as number) + offset));
    return new Exact(dotIntegers(this.#integers, weights), this.#exponent);
  }

  decayedMean(ratio: Exact): Exact {
    let sum = Exact.exactly(0);
    let weight = Exact.exactly(0);
    for (const integer of this.#integers) {
      sum = sum.times(ratio).plus(new Exact(integer, this.#exponent));
      weight = weight.times(ratio).plus(1);
    }
    return sum.over(weight);
  }

  dot(other: ExactSeries): Exact {
    return new Exact(dotIntegers(this.#integers, other.#integers), this.#exponent + other.#exponent);
  }

  deviation(i: number): Exact {
    return new Exact(this.#deviations()[i] as bigint, this.#exponent);
  }

  absoluteSum(): Exact {
    const magnitudes = this.#deviations().map(magnitude);
    return new Exact(sumOfIntegers(magnitudes), this.#exponent);
  }

  powerSum(k: number): Exact {
    const powers = this.#deviations().map((deviation) => deviation ** BigInt(k));
    return new Exact(sumOfIntegers(powers), k * this.#exponent);
  }

  productSum(other: ExactSeries): Exact {
    const products = dotIntegers(this.#deviations(), other.#deviations());
    return new Exact(products, this.#exponent + other.#exponent);
  }

  #deviations(): readonly bigint[] {
    if (this.#centred) return this.#centred;
    const count = BigInt(this.count);
    const sum = sumOfIntegers(this.#integers);
    this.#centred = this.#integers.map((integer) => count * integer - sum);
    return this.#centred;
  }
}
