import { decompose, magnitude, roundQuadratic, roundRatio, roundSquareRoot } from "./dyadic.ts";
import type { Real } from "./real.ts";

/**
 * A real number without any error: a ratio `numerator / denominator * 2^exponent`, or a root, which is the square root
 * of such a magnitude with that sign. A root may be added to a ratio; such a sum can only be rounded.
 */
export class Exact implements Real<Exact> {
  readonly #numerator: bigint;
  readonly #denominator: bigint;
  readonly #exponent: number;
  readonly #isRoot: boolean;
  #addend: Exact | null = null;

  constructor(numerator: bigint, exponent: number, denominator = 1n, isRoot = false) {
    this.#numerator = denominator < 0n ? -numerator : numerator;
    this.#denominator = magnitude(denominator);
    this.#exponent = exponent;
    this.#isRoot = isRoot;
  }

  /** The sum of two doubles. */
  static exactly(x: number, y = 0): Exact {
    if (y !== 0) return Exact.exactly(x).plus(y);
    if (Number.isSafeInteger(x)) return new Exact(BigInt(x), 0);
    const { integer, exponent } = decompose(x);
    return new Exact(integer, exponent);
  }

  plus(other: Exact | number): Exact {
    const b = exact(other);
    if (b.#isRoot) {
      const sum = new Exact(b.#numerator, b.#exponent, b.#denominator, true);
      sum.#addend = this;
      return sum;
    }
    const exponent = Math.min(this.#exponent, b.#exponent);
    const numerator = this.#over(exponent) * b.#denominator + b.#over(exponent) * this.#denominator;
    return new Exact(numerator, exponent, this.#denominator * b.#denominator);
  }

  minus(other: Exact | number): Exact {
    return this.plus(exact(other).times(-1));
  }

  times(other: Exact | number): Exact {
    const b = exact(other);
    if (this.#isRoot !== b.#isRoot) return this.#asRoot().times(b.#asRoot());
    const exponent = this.#exponent + b.#exponent;
    const denominator = this.#denominator * b.#denominator;
    return new Exact(this.#numerator * b.#numerator, exponent, denominator, this.#isRoot);
  }

  /** What is divided by 0 rounds to NaN. */
  over(other: Exact | number): Exact {
    const b = exact(other);
    return this.times(new Exact(b.#denominator, -b.#exponent, b.#numerator, b.#isRoot));
  }

  abs(): Exact {
    return new Exact(magnitude(this.#numerator), this.#exponent, this.#denominator, this.#isRoot);
  }

  root(): Exact {
    return new Exact(this.#numerator, this.#exponent, this.#denominator, true);
  }

  /** The nearest double, ties to even; +0 for zero. */
  rounded(): number {
    if (this.#denominator === 0n) return Number.NaN;
    if (this.#addend) return this.#roundedSum(this.#addend);
    if (!this.#isRoot) return roundRatio(this.#numerator, this.#denominator, this.#exponent);
    const root = roundSquareRoot(magnitude(this.#numerator), this.#denominator, this.#exponent);
    return this.#numerator < 0n ? -root : root;
  }

  /** The same over one denominator, where the root has the numerator `sqrt(square)`. */
  #roundedSum(ratio: Exact): number {
    const exponent = Math.min(ratio.#exponent, Math.floor(this.#exponent / 2));
    const square = ratio.#denominator ** 2n * magnitude(this.#over(2 * exponent)) * this.#denominator;
    return roundQuadratic(
      ratio.#over(exponent) * this.#denominator,
      this.#numerator < 0n ? -1n : 1n,
      square,
      ratio.#denominator * this.#denominator,
      exponent,
    );
  }

  /** The numerator for a lower exponent. */
  #over(exponent: number): bigint {
    return this.#numerator << BigInt(this.#exponent - exponent);
  }

  /** A ratio as the root of its square. */
  #asRoot(): Exact {
    if (this.#isRoot) return this;
    const square = this.#numerator * magnitude(this.#numerator);
    return new Exact(square, 2 * this.#exponent, this.#denominator ** 2n, true);
  }
}

function exact(x: Exact | number): Exact {
  return typeof x === "number" ? Exact.exactly(x) : x;
}
