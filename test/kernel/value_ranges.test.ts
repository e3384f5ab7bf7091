import { describe, expect, test } from "vitest";
import { ValueRanges } from "../../src/kernel/run/value_ranges.ts";
import { Draws } from "./random_panel.ts";

const SHARES = 4;

/** The share of each value; -1 where it is in none. */
function sharesOf(row: readonly number[], start = 0): number[] {
  const ranges = new ValueRanges(Float64Array.from(row), row.length - start, SHARES);
  ranges.find(start);
  return row.slice(start).map((x) => {
    const shares = Array.from({ length: SHARES }, (_, share) => share).filter((share) => {
      const [low, high] = ranges.of(share);
      return x >= low && !(x >= high);
    });
    expect(shares.length).toBeLessThanOrEqual(1);
    return shares[0] ?? -1;
  });
}

const countsOf = (row: readonly number[]) =>
  Array.from({ length: SHARES }, (_, share) => sharesOf(row).filter((one) => one === share).length);

describe("ranges of values", () => {
  test.each(
    Object.entries<(draws: Draws) => number>({
      returns: (draws) => draws.next() + draws.next() - 1,
      "values of all sizes": (draws) => (draws.next() - 0.5) * 2 ** (600 * draws.next()),
      "values and nulls": (draws) => (draws.happens(0.3) ? Number.NaN : draws.next()),
    }),
  )("hold about as many lanes each: %s", (_, cell) => {
    const draws = new Draws(3);
    const row = Array.from({ length: 20_000 }, () => cell(draws));
    const valid = row.filter((x) => !Number.isNaN(x)).length;
    for (const count of countsOf(row)) {
      expect(count).toBeGreaterThan((0.75 * valid) / SHARES);
      expect(count).toBeLessThan((1.25 * valid) / SHARES);
    }
  });

  test.each(
    Object.entries({
      "one lane": [5],
      "equal values": [7, 7, 7, 7, 7],
      "zeros of both signs": [0, -0, 0, -0],
      infinities: [Infinity, -Infinity, 1, Infinity, -Infinity],
      "infinity alone": [Infinity],
      "fewer values than shares": [2, NaN, 1, NaN],
      ordered: [1, 2, 3, 4, 5, 6, 7, 8],
    }),
  )("hold each value once, in their order: %s", (_, row) => {
    const shares = sharesOf(row);
    row.forEach((x, i) => {
      expect(shares[i]! >= 0).toBe(!Number.isNaN(x));
      row.forEach((y, k) => {
        if (x === y) expect(shares[i]).toBe(shares[k]);
        if (x < y) expect(shares[i]).toBeLessThanOrEqual(shares[k]!);
      });
    });
  });

  test("hold a value that no sample shows", () => {
    const row = new Array<number>(10_000).fill(NaN);
    row[7_777] = 3;
    expect(sharesOf(row)[7_777]).toBeGreaterThanOrEqual(0);
  });

  test("are those of the row that starts at a place", () => {
    expect(sharesOf([100, 200, 300, 400, 1, 2, 3, 4], 4)).toEqual([0, 1, 2, 3]);
  });
});
