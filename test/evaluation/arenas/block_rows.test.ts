import { describe, expect, test } from "vitest";
import { compile, finalDag } from "../../../src/compile.ts";
import { blockRowsToTry } from "../../../src/evaluation/arenas/block_rows.ts";

const dag = finalDag(
  compile(Array.from({ length: 50 }, (_, i) => `f${i} = ts_mean(rank(close + ${i}), 5)`).join("\n")),
);

describe("block sizes", () => {
  test("start with what suits caches and end with single rows", () => {
    expect(blockRowsToTry({ dag, laneCount: 100, rowCount: 1000 })).toEqual([64, 16, 4, 1]);
  });

  test("are not larger than the panel", () => {
    expect(blockRowsToTry({ dag, laneCount: 100, rowCount: 10 })).toEqual([10, 2, 1]);
    expect(blockRowsToTry({ dag, laneCount: 100, rowCount: 0 })).toEqual([1]);
  });

  test("are smaller where a block would write much, but not so small that handing out parts shows", () => {
    const [best] = blockRowsToTry({ dag, laneCount: 5000, rowCount: 1000 });
    expect(best).toBeGreaterThanOrEqual(16);
    expect(best).toBeLessThan(64);
    expect(blockRowsToTry({ dag, laneCount: 1_000_000, rowCount: 1000 })[0]).toBe(16);
  });
});
