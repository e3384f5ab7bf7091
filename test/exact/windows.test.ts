import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  exactDrawdown,
  exactLastDeviation,
  exactLastZScore,
  exactMeanAbsoluteDeviation,
  exactMeanOverDeviation,
} from "../../src/exact/dispersion.ts";
import { alignExponents, decompose, roundRatio, roundSquareRoot } from "../../src/exact/dyadic.ts";
import { exactCentralMoment, exactKurtosis, exactSkewness } from "../../src/exact/higher_moments.ts";
import { exactMedian, exactQuantile } from "../../src/exact/quantile.ts";
import {
  exactAlpha,
  exactBeta,
  exactIntercept,
  exactLastLineResidual,
  exactLastResidual,
  exactLastResidualOfThree,
  exactLineRSquare,
  exactSlope,
} from "../../src/exact/regression.ts";
import { exactMeanOfWeighted, exactNineTenthsMean } from "../../src/exact/weighted.ts";

/**
 * Statistics of windows against their definitions in fractions of integers: raw power sums and normal equations solved
 * by elimination, where the sources work with deviations, pivots and closed forms.
 */

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
const vectors = (count: number, lengthMax = 30) =>
  fc
    .integer({ min: 1, max: lengthMax })
    .chain((length) => fc.tuple(...Array.from({ length: count }, () => vector(length))));
/** Values with the rows they come from: ascending, with gaps. */
const placed = vectors(1).chain(([x]) =>
  fc
    .array(fc.integer({ min: 1, max: 40 }), { minLength: x!.length, maxLength: x!.length })
    .map((steps) => ({ x: x!, positions: positionsOf(steps) })),
);

function positionsOf(steps: number[]): Float64Array {
  let position = -1;
  return Float64Array.from(steps, (step) => {
    position += step;
    return position;
  });
}

const runs = { numRuns: 1500 };
const { NaN: none, POSITIVE_INFINITY: inf } = Number;
const of = (...values: number[]) => Float64Array.from(values);

const add = (values: readonly bigint[]) => values.reduce((sum, one) => sum + one, 0n);
const absolute = (one: bigint) => (one < 0n ? -one : one);
const dot = (a: readonly bigint[], b: readonly bigint[]) => add(a.map((one, i) => one * (b[i] as bigint)));
const signed = (sign: bigint, magnitude: number) => (sign < 0n ? -magnitude : magnitude);

/** The last of `y` less its regression on the columns and a constant, as a fraction; null where not determined. */
function residualFraction(y: readonly bigint[], columns: readonly bigint[][]): [bigint, bigint] | null {
  const all = [y.map(() => 1n), ...columns];
  const rows = all.map((a) => [...all.map((b) => dot(a, b)), dot(a, y)]);
  // Fraction-free elimination to a diagonal: the solution is the last column over the diagonal.
  for (let pivot = 0; pivot < all.length; pivot++) {
    const found = rows.findIndex((row, i) => i >= pivot && row[pivot] !== 0n);
    if (found < 0) return null;
    [rows[pivot], rows[found]] = [rows[found]!, rows[pivot]!];
    for (let i = 0; i < all.length; i++) {
      if (i === pivot) continue;
      const [factor, scale] = [rows[i]![pivot]!, rows[pivot]![pivot]!];
      rows[i] = rows[i]!.map((cell, k) => cell * scale - factor * rows[pivot]![k]!);
    }
  }
  const denominator = rows.reduce((product, row, i) => product * row[i]!, 1n);
  const fitted = add(rows.map((row, i) => (row[all.length]! * denominator * all[i]!.at(-1)!) / row[i]!));
  return [y.at(-1)! * denominator - fitted, denominator];
}

function expectResidual(actual: number, y: Float64Array, columns: readonly Float64Array[]): void {
  const fraction = residualFraction(
    alignExponents(y).integers,
    columns.map((column) => alignExponents(column).integers),
  );
  expect(actual).toBe(fraction ? roundRatio(...fraction, alignExponents(y).exponent) : none);
}

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
      fc.property(vectors(1, 12), fc.integer({ min: 0, max: 16 }), ([x], k) => {
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

describe("weighted means are exact and rounded once", () => {
  test("weights by position", () => {
    fc.assert(
      fc.property(placed, fc.integer({ min: 0, max: 5 }), ({ x, positions }, later) => {
        const rows = BigInt(positions.at(-1)! + 1 + later);
        const { integers, exponent } = alignExponents(x);
        const weights = Array.from(positions, (position) => BigInt(position + 1));
        const divisor = ((rows * (rows + 1n)) / 2n) * BigInt(x.length);
        const expected = roundRatio(dot(integers, weights), divisor, exponent);
        expect(exactMeanOfWeighted(x, positions, Number(rows))).toBe(expected);
      }),
      runs,
    );
  });

  test("powers of nine tenths", () => {
    fc.assert(
      fc.property(vectors(1), ([x]) => {
        const { integers, exponent } = alignExponents(x!);
        const n = x!.length;
        const weights = integers.map((_, i) => 9n ** BigInt(n - 1 - i) * 10n ** BigInt(i));
        expect(exactNineTenthsMean(x!)).toBe(roundRatio(dot(integers, weights), add(weights), exponent));
      }),
      runs,
    );
  });

  test("known values", () => {
    expect(exactNineTenthsMean(of(1, 2))).toBe(29 / 19);
    expect(exactNineTenthsMean(new Float64Array(3000).fill(0.1))).toBe(0.1);
    expect(
      exactNineTenthsMean(Float64Array.from({ length: 3000 }, (_, i) => (i === 0 ? 1e300 : 1))),
    ).toBeCloseTo(1e300 * 0.9 ** 2999 * 0.1, -150);
    expect([exactNineTenthsMean(of(1, inf)), exactNineTenthsMean(of(-inf, inf))]).toEqual([inf, none]);
    expect(exactMeanOfWeighted(of(1, 2, 3), of(0, 1, 2), 3)).toBe(14 / 18);
    expect(exactMeanOfWeighted(of(-inf, 1), of(0, 1), 2)).toBe(-inf);
  });
});

describe("regressions are exact and rounded once", () => {
  test("on positions", () => {
    fc.assert(
      fc.property(placed, ({ x, positions }) => {
        const { integers: y, exponent } = alignExponents(x);
        const p = Array.from(positions, BigInt);
        const n = BigInt(x.length);
        const [a, spread] = [n * dot(p, y) - add(p) * add(y), n * dot(p, p) - add(p) ** 2n];
        const ratio = (numerator: bigint, denominator: bigint, e: number) =>
          n < 2n || denominator === 0n ? none : roundRatio(numerator, denominator, e);
        expect(exactSlope(x, positions)).toBe(ratio(a, spread, exponent));
        expect(exactIntercept(x, positions)).toBe(ratio(add(y) * spread - a * add(p), n * spread, exponent));
        const variance = n * dot(y, y) - add(y) ** 2n;
        expect(exactLineRSquare(x, positions)).toBe(ratio(a * a, spread * variance, 0));
        if (n >= 2n) expectResidual(exactLastLineResidual(x, positions), x, [positions]);
      }),
      runs,
    );
  });

  test("on another series", () => {
    fc.assert(
      fc.property(vectors(2), ([first, second]) => {
        const [y, x] = [alignExponents(first!), alignExponents(second!)];
        const n = BigInt(first!.length);
        const a = n * dot(x.integers, y.integers) - add(x.integers) * add(y.integers);
        const spread = n * dot(x.integers, x.integers) - add(x.integers) ** 2n;
        const ratio = (numerator: bigint, denominator: bigint, e: number) =>
          denominator === 0n ? none : roundRatio(numerator, denominator, e);
        expect(exactBeta(first!, second!)).toBe(ratio(a, spread, y.exponent - x.exponent));
        const constant = add(y.integers) * spread - add(x.integers) * a;
        expect(exactAlpha(first!, second!)).toBe(ratio(constant, n * spread, y.exponent));
        expectResidual(exactLastResidual(first!, second!), first!, [second!]);
      }),
      runs,
    );
  });

  test("on three others", () => {
    fc.assert(
      fc.property(vectors(4, 12), (drawn) => {
        const [y, ...others] = drawn as [Float64Array, ...Float64Array[]];
        expectResidual(exactLastResidualOfThree(y, others), y, others);
      }),
      runs,
    );
  });

  test("on three others that are prices, nearly collinear, or collinear", () => {
    const noise = fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 20, maxLength: 20 });
    fc.assert(
      fc.property(noise, noise, noise, fc.constantFrom(1, 1e-9, 1e-16, 0), (a, b, c, scale) => {
        const x = Float64Array.from(a, (step) => 10 + step / 100);
        const near = x.map((price, i) => price + b[i]! * scale);
        const other = Float64Array.from(c, (step, i) => step + i);
        const y = Float64Array.from(b, (step, i) => 0.1 * step + x[i]!);
        expectResidual(exactLastResidualOfThree(y, [x, near, other]), y, [x, near, other]);
      }),
      { numRuns: 500 },
    );
  });

  test("long windows: sums of positions that no double holds", () => {
    const n = 65_536;
    const positions = Float64Array.from({ length: n }, (_, i) => i);
    const line = positions.map((position) => 3 + 0.25 * position);
    expect(exactSlope(line, positions)).toBe(0.25);
    expect(exactIntercept(line, positions)).toBe(3);
    expect(exactLineRSquare(line, positions)).toBe(1);
    expect(exactLastLineResidual(line, positions)).toBe(0);
    line[n - 1] = 0;
    const p = Array.from(positions, BigInt);
    const { integers: y, exponent } = alignExponents(line);
    const a = BigInt(n) * dot(p, y) - add(p) * add(y);
    const spread = BigInt(n) * dot(p, p) - add(p) ** 2n;
    expect(exactSlope(line, positions)).toBe(roundRatio(a, spread, exponent));
    expectResidual(exactLastLineResidual(line, positions), line, [positions]);
  });

  test("known values", () => {
    const rows = of(0, 1, 2);
    expect([exactSlope(of(1, 3, 5), rows), exactIntercept(of(1, 3, 5), rows)]).toEqual([2, 1]);
    expect(exactLastLineResidual(of(0, 0, 6), rows)).toBe(1);
    expect(exactLineRSquare(of(0, 0, 6), rows)).toBe(0.75);
    expect(exactBeta(of(2, 4, 6.5), of(1, 2, 3))).toBe(2.25);
    expect(exactLastResidual(of(0, 0, 6), of(1, 2, 3))).toBe(1);
    expect(exactAlpha(of(3, 5), of(1, 2))).toBe(1);
    for (const one of [exactSlope, exactIntercept, exactLineRSquare, exactLastLineResidual]) {
      expect([one(of(5), of(0)), one(of(1, inf, 2), rows)]).toEqual([none, none]);
    }
    for (const one of [exactBeta, exactAlpha, exactLastResidual]) {
      expect([one(of(5), of(1)), one(of(1, 2), of(3, 3)), one(of(1, inf), of(1, 2))]).toEqual([
        none,
        none,
        none,
      ]);
      expect(one(of(1, 1), of(1, inf))).toBeNaN();
    }
  });
});
