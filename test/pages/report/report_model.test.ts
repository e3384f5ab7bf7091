import { describe, expect, test } from "vitest";
import { CoverageTally } from "../../../src/pages/report/coverage_tally.ts";
import { FoldedSums } from "../../../src/pages/report/folded_sums.ts";
import { Seeded } from "../../support/seeded.ts";

describe("folded sums", () => {
  test("spread a value over the bins that it covers", () => {
    const sums = new FoldedSums(8, 10);
    sums.add("a", 5, 25, 20);
    sums.add("b", 30, 31, 4);
    expect([...sums.sums("a")]).toEqual([5, 10, 5, 0]);
    expect([...sums.sums("b")]).toEqual([0, 0, 0, 4]);
    expect([...sums.sums("nothing")]).toEqual([0, 0, 0, 0]);
    expect([sums.width, sums.binCount]).toEqual([10, 4]);
  });

  test("double the width as often as it takes, and lose nothing", () => {
    const random = new Seeded();
    const sums = new FoldedSums(8, 1);
    let total = 0;
    for (let start = 0; start < 1000; start++) {
      const value = random.below(100);
      total += value;
      sums.add("a", start, start + 1, value);
      const all = sums.sums("a").reduce((sum, one) => sum + one, 0);
      expect(all, `seed ${random.seed}`).toBe(total);
      expect(sums.binCount).toBe(Math.ceil((start + 1) / sums.width));
      expect(sums.binCount).toBeLessThanOrEqual(8);
    }
    expect(sums.width).toBe(128);
  });

  test("an end far beyond the bins takes one call", () => {
    const sums = new FoldedSums(4, 1);
    sums.add("a", 0, 1, 7);
    sums.add("a", 999, 1000, 1);
    expect([sums.width, [...sums.sums("a")]]).toEqual([256, [7, 0, 0, 1]]);
  });
});

describe("the coverage of a run", () => {
  const values = Float64Array.of(1, Number.NaN, Infinity, 2);
  const block = (first: bigint) => ({
    rowCount: 2,
    times: BigInt64Array.of(first, first + 1n),
    present: Uint8Array.of(1, 1, 1, 0),
    columns: new Map([
      ["a", values],
      ["unwanted", null],
    ]),
  });

  test("counts rows and values by time, without cells that have no row", () => {
    const tally = new CoverageTally(false);
    tally.add(block(5n));
    tally.add(block(7n));
    expect([tally.firstTime, tally.timeCount, tally.timesPerPoint]).toEqual([5n, 4, 1]);
    expect(tally.rows()).toEqual([2, 1, 2, 1]);
    expect(tally.values("a")).toEqual([1, 0, 1, 0]);
    expect(tally.values("unwanted")).toEqual([0, 0, 0, 0]);
  });

  test("takes infinities for values where they are kept", () => {
    const tally = new CoverageTally(true);
    tally.add(block(5n));
    expect(tally.values("a")).toEqual([1, 1]);
  });

  test("has at most 400 points and none for no row", () => {
    const tally = new CoverageTally(false);
    for (let row = 0; row < 1000; row += 2) tally.add(block(BigInt(row)));
    expect([tally.pointCount, tally.timesPerPoint]).toEqual([250, 4]);
    expect(tally.rows()).toEqual(new Array(250).fill(6));
    expect(new CoverageTally(false).rows()).toEqual([]);
  });
});
