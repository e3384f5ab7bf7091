import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FinishedFactor } from "../../../src/data/factors/finished_factor.ts";
import { bitsOf, factorValue, finished, patternsOf } from "../finished.ts";

describe("FinishedFactor", () => {
  test("the column of the first lanes has their values, and is the same when it is asked for again", () => {
    fc.assert(
      fc.property(
        fc.array(factorValue, { minLength: 1, maxLength: 140 }),
        fc.nat(8),
        fc.boolean(),
        (given, spareLanes, keepInfinite) => {
          const length = Math.max(1, given.length - spareLanes);
          const factor = new FinishedFactor(finished(given), keepInfinite);
          const expected = given.slice(0, length).map((one) => {
            return Number.isFinite(one) || (keepInfinite && !Number.isNaN(one)) ? one : null;
          });
          const infinite = given.slice(0, length).filter((one) => Math.abs(one) === Infinity).length;
          const nulls = expected.filter((one) => one === null).length;
          for (const data of [factor.data(length), factor.data(length)]) {
            expect([data.length, data.nullCount]).toEqual([length, nulls]);
            expect([...new BigUint64Array(data.values.slice().buffer)]).toEqual(patternsOf(expected));
            expect(factor.nonFiniteCount).toBe(infinite);
            if (nulls === 0) expect(data.nullBitmap).toHaveLength(0);
            else
              expect(bitsOf(data.nullBitmap)).toEqual(padded(expected.map((one) => (one === null ? 0 : 1))));
          }
        },
      ),
    );
  });

  test("a row that replaces an earlier one is counted again", () => {
    const row = finished([1, Number.NaN, 3]);
    const factor = new FinishedFactor(row, false);
    expect(factor.data(3).nullCount).toBe(1);
    const next = finished([1, 2, Infinity]);
    row.values.set(next.values);
    row.valid.set(next.valid);
    row.infinite.set(next.infinite);
    expect([factor.data(3).nullCount, factor.nonFiniteCount, [...factor.data(3).values]]).toEqual([
      1,
      1,
      [1, 2, Number.NaN],
    ]);
    expect(bitsOf(factor.data(3).nullBitmap)).toEqual([1, 1, 0, 0, 0, 0, 0, 0]);
  });
});

/** With zeros up to a whole byte. */
function padded(bits: readonly number[]): number[] {
  return Array.from({ length: 8 * Math.ceil(bits.length / 8) }, (_, i) => bits[i] ?? 0);
}
