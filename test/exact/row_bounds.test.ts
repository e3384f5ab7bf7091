import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decompose, roundRatio } from "../../src/exact/dyadic.ts";
import { exactMagnitudeShare, exactMedianBound } from "../../src/exact/row_bounds.ts";
import { exactRangeShares } from "../../src/exact/row_statistics.ts";
import { absolute, add, constant, exactRow, runs, vectors, written } from "./row_values.ts";

const { NaN: none, POSITIVE_INFINITY: inf } = Number;

/** `(a * 2^e + b * 2^f) / divisor` rounded. */
function roundSum(a: bigint, e: number, b: bigint, f: number, divisor: bigint): number {
  const least = Math.min(e, f);
  return roundRatio((a << BigInt(e - least)) + (b << BigInt(f - least)), divisor, least);
}

const ascending = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0);

/** Twice the median. */
function twiceMedian(values: readonly bigint[]): bigint {
  const sorted = [...values].sort(ascending);
  const middle = sorted.length >> 1;
  return (sorted[(sorted.length - 1) >> 1] as bigint) + (sorted[middle] as bigint);
}

describe("every result is the exact value rounded once", () => {
  test("share of the sum of magnitudes", () => {
    fc.assert(
      fc.property(vectors(1), constant, ([x], factor) => {
        const { integers, exponent } = exactRow(x!);
        const f = decompose(factor);
        const expected = roundRatio(f.integer * add(integers.map(absolute)), 1n, f.exponent + exponent);
        expect(exactMagnitudeShare(x!, factor)).toBe(expected);
      }),
      runs,
    );
  });

  test("places between the extremes", () => {
    fc.assert(
      fc.property(vectors(1), constant, ([x], offset) => {
        const { integers } = exactRow(x!);
        const [least, most] = [...integers]
          .sort(ascending)
          .filter((_, i, all) => i === 0 || i === all.length - 1);
        const range = (most ?? least!) - least!;
        const o = decompose(offset);
        const expected = integers.map((one) =>
          range === 0n ? none : roundSum(one - least!, 0, -o.integer * range, o.exponent, range),
        );
        expect(written(x!.length, (output) => exactRangeShares(x!, offset, output))).toEqual(expected);
      }),
      runs,
    );
  });

  test("median plus a multiple of the median distance from it", () => {
    fc.assert(
      fc.property(vectors(1), constant, constant, ([x], factor, scale) => {
        const { integers, exponent } = exactRow(x!);
        const median = twiceMedian(integers);
        const distance = twiceMedian(integers.map((one) => absolute(2n * one - median)));
        const [f, s] = [decompose(factor), decompose(scale)];
        const step = f.integer * s.integer * distance;
        const expected = roundSum(2n * median, exponent, step, exponent + f.exponent + s.exponent, 4n);
        expect(exactMedianBound(x!, factor, scale)).toBe(expected);
      }),
      runs,
    );
  });
});

describe("known values", () => {
  const places = (...values: number[]) =>
    written(values.length, (output) => exactRangeShares(Float64Array.from(values), 0, output));
  const share = (factor: number, ...values: number[]) =>
    exactMagnitudeShare(Float64Array.from(values), factor);
  const median = (factor: number, ...values: number[]) =>
    exactMedianBound(Float64Array.from(values), factor, 1);

  test("share of magnitudes", () => {
    expect(share(0.5, 3, -7, 20, 6)).toBe(18);
    expect(share(0.5, 1e308, 1e308)).toBe(1e308);
    expect([share(1), share(1, 0, -0), share(0, 5)]).toEqual([0, 0, 0]);
    expect([share(1, -inf), share(0, inf)]).toEqual([inf, none]);
  });

  test("places", () => {
    expect(places(15, 7, 0, 20)).toEqual([0.75, 0.35, 0, 1]);
    expect(places(-1e308, 1e308, 0)).toEqual([0, 1, 0.5]);
    expect(places(0, 5e-324)).toEqual([0, 1]);
    expect([places(), places(3), places(2, 2), places(0, -0)]).toEqual([
      [],
      [none],
      [none, none],
      [none, none],
    ]);
    expect(places(1, inf, 2)).toEqual([none, none, none]);
  });

  test("median and median distance", () => {
    expect(median(1, 1, 2, 3, 4, 100)).toBe(4);
    expect(median(-1, 1, 2, 3, 4, 100)).toBe(2);
    expect(median(1, 7)).toBe(7);
    expect(median(1, 1, 4)).toBe(4);
    expect(median(5, 3, 3, 3, 9)).toBe(3);
    expect(median(1, 1e308, 1.5e308, 1.7e308)).toBe(1.7e308);
    expect([median(1), median(1, 2, inf)]).toEqual([none, none]);
  });
});
