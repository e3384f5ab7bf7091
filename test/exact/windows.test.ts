import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exactDrawdown } from "../../src/exact/drawdown.ts";
import { alignExponents, decompose, roundRatio, roundSquareRoot } from "../../src/exact/dyadic.ts";
import {
  exactCentralMoment,
  exactKurtosis,
  exactLastDeviation,
  exactLastZScore,
  exactMeanAbsoluteDeviation,
  exactMeanOverDeviation,
  exactSkewness,
} from "../../src/exact/moments.ts";
import { exactMedian, exactQuantile } from "../../src/exact/quantile.ts";
import { absolute, add, runs, vectors } from "./row_values.ts";

/**
 * Statistics of the values of a window against their definitions in fractions of integers: raw power sums, where the
 * sources work with deviations and pivots.
 */

const { NaN: none, POSITIVE_INFINITY: inf } = Number;
const of = (...values: number[]) => Float64Array.from(values);
const dot = (a: readonly bigint[], b: readonly bigint[]) => add(a.map((one, i) => one * (b[i] as bigint)));
const signed = (sign: bigint, magnitude: number) => (sign < 0n ? -magnitude : magnitude);

describe("dispersion is exact and rounded once", () => {
  test("mean absolute deviation and last deviation", () => {
    fc.assert(
      fc.property(vectors(1), ([x]) => {
        const { integers, exponent } = alignExponents(x!);
        const n = BigInt(x!.length);
        const deviations = integers.map((one) => n * one - add(integers));
        expect(exactMeanAbsoluteDeviation(x!)).toBe(
          roundRatio(add(deviations.map(absolute)), n * n, exponent),
        );
        expect(exactLastDeviation(x!)).toBe(roundRatio(deviations.at(-1)!, n, exponent));
      }),
      runs,
    );
  });

  test("z-score and mean over deviation", () => {
    fc.assert(
      fc.property(vectors(1), ([x]) => {
        const { integers } = alignExponents(x!);
        const n = BigInt(x!.length);
        const spread = n * dot(integers, integers) - add(integers) ** 2n; // n(n-1) times the variance
        const ratio = (scaled: bigint) =>
          spread === 0n ? none : signed(scaled, roundSquareRoot(scaled ** 2n * (n - 1n), n * spread, 0));
        expect(exactLastZScore(x!)).toBe(ratio(n * integers.at(-1)! - add(integers)));
        expect(exactMeanOverDeviation(x!)).toBe(ratio(add(integers)));
      }),
      runs,
    );
  });

  test("drawdown", () => {
    fc.assert(
      fc.property(vectors(1), ([x]) => {
        const values = x!.map(Math.abs);
        const { integers } = alignExponents(values);
        const drops = integers.map((one, i) => {
          const peak = integers.slice(0, i + 1).reduce((most, other) => (other > most ? other : most));
          return roundRatio(peak - one, peak === 0n ? 1n : peak, 0);
        });
        expect(exactDrawdown(values)).toBe(values[0]! > 0 ? Math.max(...drops) : none);
      }),
      runs,
    );
  });

  test("by hand", () => {
    expect(exactDrawdown(of(100, 50, 101, 100))).toBe(0.5);
    expect(exactDrawdown(of(1, 2, 3))).toBe(0);
    expect(exactDrawdown(of(4, -2, 5))).toBe(1.5);
    expect(exactDrawdown(of(5e-324, 1e308, -1e308))).toBe(2);
    expect([exactDrawdown(of(0, 1)), exactDrawdown(of(-1, 1)), exactDrawdown(of(1, inf))]).toEqual([
      none,
      none,
      none,
    ]);
    expect(exactMeanAbsoluteDeviation(of(0.1, 0.1, 0.1))).toBe(0);
    expect(exactLastZScore(of(1, 2, 3))).toBe(1);
    expect(exactMeanOverDeviation(of(1, 2, 3))).toBe(2);
  });

  test("infinities", () => {
    expect(exactMeanAbsoluteDeviation(of(1, inf))).toBeNaN();
    expect([exactLastZScore(of(1, inf)), exactMeanOverDeviation(of(1, inf))]).toEqual([none, none]);
    expect([exactLastDeviation(of(inf, 1)), exactLastDeviation(of(1, inf))]).toEqual([-inf, none]);
    expect(exactLastDeviation(of(inf, -inf, 1))).toBeNaN();
    expect(exactLastZScore(of(inf, inf))).toBeNaN();
  });
});

describe("higher moments are exact and rounded once", () => {
  /** n^k times the k-th power sum of deviations, from raw power sums by the binomial theorem. */
  function centred(integers: readonly bigint[], k: number): bigint {
    const n = BigInt(integers.length);
    const total = add(integers);
    let [sum, binomial] = [0n, 1n];
    for (let j = 0; j <= k; j++) {
      const raw = add(integers.map((one) => one ** BigInt(k - j)));
      sum += binomial * n ** BigInt(k - j) * raw * (-total) ** BigInt(j);
      binomial = (binomial * BigInt(k - j)) / BigInt(j + 1);
    }
    return sum;
  }

  test("central moments", () => {
    fc.assert(
      fc.property(vectors(1), fc.integer({ min: 0, max: 16 }), ([x], k) => {
        const { integers, exponent } = alignExponents(x!);
        const expected = roundRatio(centred(integers, k), BigInt(x!.length) ** BigInt(k + 1), k * exponent);
        expect(exactCentralMoment(x!, k)).toBe(expected);
      }),
      runs,
    );
    for (const k of [-1, 17, 1.5]) expect(exactCentralMoment(of(1, 2), k)).toBeNaN();
    expect(exactCentralMoment(of(1, inf), 0)).toBeNaN();
  });

  test("skewness", () => {
    fc.assert(
      fc.property(vectors(1), ([x]) => {
        const { integers } = alignExponents(x!);
        const n = BigInt(x!.length);
        const [second, third] = [centred(integers, 2), centred(integers, 3)];
        const isDefined = n >= 3n && second !== 0n;
        const squared = [n * n * (n - 1n) * third ** 2n, (n - 2n) ** 2n * second ** 3n] as const;
        expect(exactSkewness(x!)).toBe(isDefined ? signed(third, roundSquareRoot(...squared, 0)) : none);
      }),
      runs,
    );
  });

  test("kurtosis", () => {
    fc.assert(
      fc.property(vectors(1), ([x]) => {
        const { integers } = alignExponents(x!);
        const n = BigInt(x!.length);
        const [second, fourth] = [centred(integers, 2), centred(integers, 4)];
        const isDefined = n >= 4n && second !== 0n;
        const numerator = (n - 1n) * (n * (n + 1n) * fourth - 3n * (n - 1n) * second ** 2n);
        const denominator = (n - 2n) * (n - 3n) * second ** 2n;
        expect(exactKurtosis(x!)).toBe(isDefined ? roundRatio(numerator, denominator, 0) : none);
      }),
      runs,
    );
  });

  test("known values", () => {
    expect(exactSkewness(of(1, 2, 3))).toBe(0);
    expect(exactSkewness(of(0, 0, 1))).toBe(Math.sqrt(3));
    expect(exactKurtosis(of(1, 2, 3, 4))).toBe(-1.2);
    expect([exactSkewness(of(1, 2)), exactSkewness(of(7, 7, 7)), exactKurtosis(of(1, 2, 3))]).toEqual([
      none,
      none,
      none,
    ]);
    expect([exactSkewness(of(1, 2, inf)), exactKurtosis(of(1, 2, 3, inf))]).toEqual([none, none]);
  });
});

describe("quantiles are exact and rounded once", () => {
  test("any share of any window", () => {
    const share = fc.oneof(
      fc.double({ noNaN: true, min: 0, max: 1 }),
      fc.constantFrom(0, 0.25, 0.5, 1, 1e-300),
    );
    fc.assert(
      fc.property(vectors(1), share, ([x], q) => {
        const sorted = [...x!].sort((a, b) => a - b);
        const position = q * (sorted.length - 1);
        const index = Math.floor(position);
        const [below, above] = [sorted[index]!, sorted[Math.min(index + 1, sorted.length - 1)]!];
        const { integers, exponent } = alignExponents(of(below, above));
        const part = decompose(position - index);
        const numerator =
          (integers[0]! << BigInt(-part.exponent)) + (integers[1]! - integers[0]!) * part.integer;
        expect(exactQuantile(x!.slice(), q)).toBe(roundRatio(numerator, 1n, exponent + part.exponent));
      }),
      runs,
    );
  });

  test("known values", () => {
    expect(exactMedian(of(3, 1, 2))).toBe(2);
    expect(exactMedian(of(4, 1, 2, 3))).toBe(2.5);
    expect(exactMedian(of(1e308, 1.5e308))).toBe(1.25e308);
    expect(exactMedian(of(-0))).toBe(0);
    expect(exactQuantile(of(1, 2, 3, 4), 0.25)).toBe(1.75);
    expect([exactQuantile(of(1), -0.1), exactQuantile(of(1), 1.1), exactQuantile(of(1), none)]).toEqual([
      none,
      none,
      none,
    ]);
  });

  test("infinities are values", () => {
    expect([exactMedian(of(1, inf)), exactMedian(of(1, -inf)), exactMedian(of(inf, -inf))]).toEqual([
      inf,
      -inf,
      none,
    ]);
    expect(exactMedian(of(inf, inf))).toBe(inf);
    expect(exactMedian(of(-inf, 1, inf))).toBe(1);
    expect(exactQuantile(of(-inf, 1, 2), 0.75)).toBe(1.5);
  });
});
