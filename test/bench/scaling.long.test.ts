import { expect, test } from "vitest";
import { measureScaling } from "../../src/bench/scaling/scaling.ts";
import { EXECUTOR_TIMES } from "../../src/execution/times/thread_times.ts";

test.each([
  true,
  false,
])("scaling counts threads by powers of two, and shares sum up: live %s", async (live) => {
  const done: number[] = [];
  const onProgress = (count: number) => done.push(count);
  const scaling = await measureScaling({ live, threads: 3, lanes: 8, rows: 64, onProgress });
  expect(scaling.map(({ threads }) => threads)).toEqual([1, 2, 3]);
  expect(done).toEqual([1, 2, 3]);
  expect(scaling[0]!.speedup).toBe(1);
  expect(scaling[0]!.hops).toBe(0);
  for (const { shares, mainShare, schedulerShare, parts, kinds, ceiling, msPerRow } of scaling) {
    expect(EXECUTOR_TIMES.reduce((sum, name) => sum + shares[name], 0)).toBeCloseTo(1, 9);
    for (const share of [...Object.values(shares), mainShare, schedulerShare]) {
      expect(share).toBeGreaterThanOrEqual(0);
      expect(share).toBeLessThanOrEqual(1);
    }
    expect(parts).toBeGreaterThan(live ? 100 : 1);
    expect(kinds.map(({ kind }) => kind).sort()).toEqual(["input", "lanes", "rows"]);
    expect(Math.min(ceiling.inCache, ceiling.fromMemory)).toBeGreaterThan(0);
    expect(msPerRow.p99).toBeGreaterThanOrEqual(msPerRow.p50);
  }
});
