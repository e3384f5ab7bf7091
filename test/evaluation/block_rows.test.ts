import { describe, expect, test } from "vitest";
import { compile, finalDag } from "../../src/compile.ts";
import { blockRowsToTry } from "../../src/evaluation/fit_plan.ts";
import { draftPlan } from "../../src/plan/form.ts";

const dag = finalDag(
  compile(Array.from({ length: 50 }, (_, i) => `f${i} = ts_mean(rank(close + ${i}), 5)`).join("\n")),
);

const sizesOf = (laneCount: number, rowCount: number) =>
  blockRowsToTry(draftPlan(dag, { laneCount, executorCount: 1 }), { rowCount });

describe("block sizes", () => {
  test("start with what suits caches and end with single rows", () => {
    expect(sizesOf(100, 1000)).toEqual([64, 16, 4, 1]);
  });

  test("are not larger than the panel", () => {
    expect(sizesOf(100, 10)).toEqual([10, 2, 1]);
    expect(sizesOf(100, 0)).toEqual([1]);
  });

  test("are smaller where a block would write much, but not so small that handing out parts shows", () => {
    const [best] = sizesOf(5000, 1000);
    expect(best).toBeGreaterThanOrEqual(16);
    expect(best).toBeLessThan(64);
    expect(sizesOf(1_000_000, 1000)[0]).toBe(16);
  });
});
