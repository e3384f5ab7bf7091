import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { alignExponents, roundRatio } from "../../src/exact/dyadic.ts";
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
import { exactMeanOfWeighted, exactNineTenthsMean } from "../../src/exact/sums.ts";
import { trials } from "../support/trials.ts";
import { add, runs, vectors } from "./row_values.ts";

/**
 * Weighted means and regressions against their definitions in fractions of integers: normal equations solved by
 * elimination, where the sources work with deviations and closed forms.
 */

const { NaN: none, POSITIVE_INFINITY: inf } = Number;
const of = (...values: number[]) => Float64Array.from(values);
const dot = (a: readonly bigint[], b: readonly bigint[]) => add(a.map((one, i) => one * (b[i] as bigint)));

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
      fc.property(vectors(4), (drawn) => {
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
      { numRuns: trials(150, 500) },
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
