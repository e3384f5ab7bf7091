import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { alignExponents, roundRatio, roundSquareRoot } from "../../src/exact/dyadic.ts";
import {
  exactCorrelation,
  exactCovariance,
  exactStandardDeviation,
  exactVariance,
} from "../../src/exact/moments.ts";
import { exactDeviations, exactShares } from "../../src/exact/row_statistics.ts";
import { exactLinearlyWeightedMean, exactMean, exactProduct, exactSum } from "../../src/exact/sums.ts";
import { trials } from "../support/trials.ts";

/** The definitions in integers alone, without the double-double shortcut that is under test. */
const integers = (values: Float64Array) => alignExponents(values).integers;
const exponent = (values: Float64Array) => alignExponents(values).exponent;
const add = (values: bigint[]) => values.reduce((sum, value) => sum + value, 0n);
const absolute = (value: bigint) => (value < 0n ? -value : value);
function moment(x: bigint[], y: bigint[]): bigint {
  return BigInt(x.length) * add(x.map((value, i) => value * (y[i] as bigint))) - add(x) * add(y);
}
function correlation(x: Float64Array, y: Float64Array): number {
  const [a, b] = [integers(x), integers(y)];
  const squares = moment(a, a) * moment(b, b);
  if (squares === 0n) return Number.NaN;
  const magnitude = roundSquareRoot(moment(a, b) ** 2n, squares, 0);
  return moment(a, b) < 0n ? -magnitude : magnitude;
}

/** Values that hurt: wide exponents, near cancellation, ties of rounding, few bits, ranks, prices, constants. */
const value = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.double({ noNaN: true, min: -1e3, max: 1e3 }),
  fc.integer({ min: -4, max: 4 }),
  fc.integer({ min: 1, max: 100 }).map((rank) => rank / 100),
  fc.integer({ min: 900, max: 1100 }).map((cents) => cents / 100),
  fc.integer({ min: -3, max: 3 }).map((step) => 1e9 + step),
  fc.integer({ min: -3, max: 3 }).map((step) => 1 + step * Number.EPSILON),
  fc.constantFrom(1e15, -1e15, 5e-324, -5e-324, 1e308, -1e308, 2 ** -1022, 0, -0, 0.1),
);
const family = fc.oneof(
  value.map((one) => fc.constant(one)),
  fc.constant(value),
  fc
    .constantFrom(1, 1e9, 1e-300, 1e300)
    .map((unit) => fc.double({ noNaN: true, min: -1, max: 1 }).map((x) => x * unit)),
);
const vector = (length: number) =>
  family
    .chain((one) => fc.array(one, { minLength: length, maxLength: length }))
    .map((v) => Float64Array.from(v));
const vectors = (count: number) =>
  fc
    .integer({ min: 1, max: 30 })
    .chain((length) => fc.tuple(...Array.from({ length: count }, () => vector(length))));

const runs = { numRuns: trials(500, 2000) };

describe("every statistic is the exact value rounded once", () => {
  test("sum and mean", () => {
    fc.assert(
      fc.property(vectors(1), ([x]) => {
        const sum = add(integers(x!));
        expect(exactSum(x!)).toBe(roundRatio(sum, 1n, exponent(x!)));
        expect(exactMean(x!)).toBe(roundRatio(sum, BigInt(x!.length), exponent(x!)));
      }),
      runs,
    );
  });

  test("linearly weighted mean", () => {
    fc.assert(
      fc.property(vectors(1), ([x]) => {
        const weights = x!.map((_, i) => i + 1);
        const weighted = add(integers(x!).map((integer, i) => integer * BigInt(i + 1)));
        expect(exactLinearlyWeightedMean(x!)).toBe(
          roundRatio(weighted, add(Array.from(weights, BigInt)), exponent(x!)),
        );
      }),
      runs,
    );
  });

  test("product", () => {
    fc.assert(
      fc.property(vectors(1), ([x]) => {
        const product = integers(x!).reduce((all, integer) => all * integer, 1n);
        expect(exactProduct(x!)).toBe(roundRatio(product, 1n, exponent(x!) * x!.length));
      }),
      runs,
    );
  });

  test("shares and deviations of a row", () => {
    fc.assert(
      fc.property(vectors(1), fc.double({ noNaN: true, min: -1e3, max: 1e3 }), ([x], factor) => {
        const [shares, deviations] = [new Float64Array(x!.length), new Float64Array(x!.length)];
        exactShares(x!, factor, shares);
        exactDeviations(x!, deviations);
        const values = integers(x!);
        const total = add(values.map(absolute));
        const [scaledFactor, factorExponent] = [
          integers(Float64Array.of(factor))[0]!,
          exponent(Float64Array.of(factor)),
        ];
        const count = BigInt(x!.length);
        expect(Array.from(shares)).toEqual(
          values.map((v) =>
            total === 0n ? Number.NaN : roundRatio(v * scaledFactor, total, factorExponent),
          ),
        );
        expect(Array.from(deviations)).toEqual(
          values.map((v) => roundRatio(v * count - add(values), count, exponent(x!))),
        );
      }),
      runs,
    );
  });

  test("the covariance with a constant is 0, not -0", () => {
    const x = Float64Array.of(3.0487022694285606e-260, 0, 4.212574366406085e-136);
    const y = new Float64Array(3).fill(-1.0666289164943433e-47);
    expect(exactCovariance(x, y)).toBe(0);
    expect(exactCovariance(y, x)).toBe(0);
    expect(exactCovariance(y, Float64Array.of(1, Number.POSITIVE_INFINITY, 2))).toBeNaN();
    expect(exactCovariance(Float64Array.of(1, Number.POSITIVE_INFINITY, 2), y)).toBeNaN();
  });

  test("variance, deviation, covariance, correlation", () => {
    fc.assert(
      fc.property(vectors(2), ([x, y]) => {
        const n = BigInt(x!.length);
        const [a, b] = [integers(x!), integers(y!)];
        if (n < 2n) {
          expect(exactCovariance(x!, y!)).toBeNaN();
          expect(exactStandardDeviation(x!)).toBeNaN();
          return;
        }
        const divisor = n * (n - 1n);
        expect(exactCovariance(x!, y!)).toBe(roundRatio(moment(a, b), divisor, exponent(x!) + exponent(y!)));
        expect(exactVariance(x!)).toBe(roundRatio(moment(a, a), divisor, 2 * exponent(x!)));
        expect(exactStandardDeviation(x!)).toBe(roundSquareRoot(moment(a, a), divisor, 2 * exponent(x!)));
        expect(exactCorrelation(x!, y!)).toBe(correlation(x!, y!));
      }),
      runs,
    );
  });
});

describe("known values", () => {
  test("a constant window has no deviation, two rows correlate exactly", () => {
    expect(exactStandardDeviation(new Float64Array(7).fill(0.1))).toBe(0);
    expect(exactCorrelation(Float64Array.of(0.1, 0.3), Float64Array.of(1e-9, 7))).toBe(1);
    expect(exactCorrelation(Float64Array.of(0.1, 0.3), Float64Array.of(7, 6.9))).toBe(-1);
    expect(exactCorrelation(Float64Array.of(1, 1, 1), Float64Array.of(1, 2, 3))).toBeNaN();
  });

  test("large values cancel without a trace", () => {
    expect(exactSum(Float64Array.of(1e15, 0.1, -1e15))).toBe(0.1);
    expect(exactVariance(Float64Array.of(1e9, 1e9 + 1, 1e9 + 2))).toBe(1);
    expect(exactSum(Float64Array.of(1e308, 1e308, -1e308))).toBe(1e308);
  });

  test("tiny and huge values correlate as any others", () => {
    for (const unit of [1e-80, 1e-120, 1e120]) {
      const x = Float64Array.of(unit, 2 * unit, 4 * unit);
      expect(exactCorrelation(x, x)).toBe(1);
      expect(exactCorrelation(x, Float64Array.of(3, 2, 1))).toBe(correlation(x, Float64Array.of(3, 2, 1)));
    }
  });

  test("infinities", () => {
    const { POSITIVE_INFINITY: inf, NEGATIVE_INFINITY: negative } = Number;
    expect(exactSum(Float64Array.of(1, inf))).toBe(inf);
    expect(exactMean(Float64Array.of(1, negative))).toBe(negative);
    expect(exactSum(Float64Array.of(inf, negative))).toBeNaN();
    expect(exactVariance(Float64Array.of(1, inf))).toBeNaN();
    expect(exactCorrelation(Float64Array.of(1, 2), Float64Array.of(1, inf))).toBeNaN();
    expect(exactProduct(Float64Array.of(2, inf))).toBe(inf);
    expect(exactProduct(Float64Array.of(0, inf))).toBeNaN();
    expect(exactSum(Float64Array.of(1e308, 1e308))).toBe(inf);
  });

  test("infinities count the same in any order, overflow among the finite values notwithstanding", () => {
    const { POSITIVE_INFINITY: inf, NEGATIVE_INFINITY: negative } = Number;
    for (const values of [
      [1e308, 1e308, negative],
      [negative, 1e308, 1e308],
    ]) {
      expect(exactSum(Float64Array.from(values))).toBe(negative);
      expect(exactMean(Float64Array.from(values))).toBe(negative);
      expect(exactLinearlyWeightedMean(Float64Array.from(values))).toBe(negative);
    }
    for (const values of [
      [1e-200, -1e-200, inf],
      [inf, 1e-200, -1e-200],
    ]) {
      expect(exactProduct(Float64Array.from(values))).toBe(negative);
    }
    const output = new Float64Array(3);
    exactShares(Float64Array.of(2, inf, 3), 1, output);
    expect(Array.from(output)).toEqual([0, Number.NaN, 0]);
    exactDeviations(Float64Array.of(2, inf, 3), output);
    expect(Array.from(output)).toEqual([negative, Number.NaN, negative]);
    exactShares(Float64Array.of(1e308, 1e308, -1e308), 1, output);
    expect(Array.from(output)).toEqual([1 / 3, 1 / 3, -1 / 3]);
  });

  test("rounding is to nearest, ties to even, down to the subnormals", () => {
    expect(roundRatio((1n << 53n) + 1n, 1n, 0)).toBe(2 ** 53);
    expect(roundRatio((1n << 53n) + 3n, 1n, 0)).toBe(2 ** 53 + 4);
    expect(roundRatio(3n, 2n, -1074)).toBe(2 * 2 ** -1074);
    expect(roundRatio(1n, 2n, -1074)).toBe(0);
    expect(roundRatio(-1n, 3n, 0)).toBe(-1 / 3);
    expect(roundSquareRoot(2n, 1n, 0)).toBe(Math.SQRT2);
    expect(roundSquareRoot(1n, 1n, -2148)).toBe(2 ** -1074);
  });
});
