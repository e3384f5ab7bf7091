import { describe, expect, test } from "vitest";
import { isSlowBy, measureTradingDay } from "../../bench/trading_day.ts";
import { publishedText } from "../../src/bench/open_formulas.ts";

describe("a trading day", () => {
  test("tells of every hour", async () => {
    const progress: number[] = [];
    const day = await measureTradingDay(
      { name: "alpha101", text: publishedText("alpha101"), select: ["alpha001", "alpha101"] },
      { lanes: 37, threads: 2, warmUpRows: 40, pushes: 130, onProgress: (done) => progress.push(done) },
    );
    expect(day).toMatchObject({ lanes: 37, threads: 2, warmUpRows: 40, pushes: 130, factors: 2 });
    expect(day.hours.map(({ pushes }) => pushes)).toEqual([60, 60, 10]);
    expect(progress.at(-1)).toBe(130);
    for (const { p50, p99, max, residentBytes } of [...day.hours]) {
      expect([p50, p99, max]).toEqual([p50, p99, max].sort((a, b) => a - b));
      expect(residentBytes).toBeGreaterThan(10 * 2 ** 20);
    }
    const { stage, run, table } = day.stageMs;
    for (const ms of [day.openMs, day.firstPushMs, stage, run, table]) expect(ms).toBeGreaterThan(0);
    expect(run).toBeLessThan(day.msPerPush.max);
    expect(day.residentGrowth).toBeGreaterThan(-1);
    expect(day.collections.slowPushes).toBeLessThanOrEqual(day.collections.count);
  });

  test.each([
    ["quick", { start: 100, ms: 30 }, [], false],
    ["slow by itself", { start: 100, ms: 40 }, [{ start: 90, ms: 20 }], false],
    ["slow in spite of a collection", { start: 100, ms: 40 }, [{ start: 110, ms: 9 }], false],
    ["slow by a collection", { start: 100, ms: 40 }, [{ start: 110, ms: 10 }], true],
    ["slow by two", { start: 100, ms: 40 }, [5, 20].map((at) => ({ start: 100 + at, ms: 5 })), true],
    ["slow before one", { start: 100, ms: 40 }, [{ start: 140, ms: 10 }], false],
  ] as const)("a push that is %s", (_, push, collections, expected) => {
    expect(isSlowBy(push, collections, 30)).toBe(expected);
  });
});
