import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { Seeded } from "../support/seeded.ts";
import { diarised, partsOf } from "./part_diary.ts";
import { bitsOf, blockAt, smallPlan } from "./small_plan.ts";
import { withPool } from "./test_pool.ts";

describe("parts that are queued behind a long one", () => {
  const LANES = 120;
  /** All parts are queued as soon as their node is ready. */
  const schedule = { queueNs: 1e12 };
  const long = 1;
  const short = 2;
  const plan = smallPlan(
    {
      long: { operator: "add_one", reads: ["x"], isOutput: true },
      short: { operator: "add_one", reads: ["x"], partCount: LANES, isOutput: true },
    },
    1,
    LANES,
  );
  const shortParts = Array.from({ length: LANES }, (_, part) => [0, short, part] as const);

  test.each([2, 3])("are run by the others of %i executors, each part once", async (threads) => {
    await withPool({ threads, schedule }, async ({ pool }) => {
      const { data, diary } = diarised(plan, 1);
      diary.hold([0, long, 0]);
      const open = await pool.open(data);
      const running = open.run(blockAt(0, 1));
      // Only a thief can run what was queued for the executor that is held.
      while (!shortParts.every((part) => diary.runs(part) === 1)) await delay(2);
      expect(diary.ended([0, long, 0])).toBe(0);
      diary.letGo([0, long, 0]);
      await running;
      const [holder] = diary.executors([0, long, 0]);
      const ranByHolder = shortParts.filter((part) => diary.executors(part).includes(holder!));
      expect(ranByHolder.length).toBeLessThan(LANES / 2);
      expect(shortParts.map((part) => diary.runs(part))).toEqual(new Array(LANES).fill(1));
      expect([...data.results[1]!]).toEqual([...data.fields.get("x")!].map((value) => value + 1));
    });
  });

  test("wait for it where stealing is switched off", async () => {
    await withPool({ threads: 2, schedule: { ...schedule, isStealing: false } }, async ({ pool }) => {
      const { data, diary } = diarised(plan, 1);
      diary.hold([0, long, 0]);
      const open = await pool.open(data);
      const running = open.run(blockAt(0, 1));
      await delay(100);
      expect(shortParts.some((part) => diary.runs(part) === 0)).toBe(true);
      diary.letGo([0, long, 0]);
      await running;
      expect(shortParts.map((part) => diary.runs(part))).toEqual(new Array(LANES).fill(1));
    });
  });
});

test.each([
  2, 4,
])("in 500 short runs on %i executors no part is lost and none is run twice", async (threads) => {
  const { seed, uniform, below } = new Seeded();
  const ROWS = 500;
  const plan = smallPlan(
    {
      first: { operator: "add_one", reads: ["x"], partCount: 9 },
      second: { operator: "add_one", reads: ["first"], partCount: 5 },
      aside: { operator: "cum_sum", reads: ["y"], partCount: 9, isOutput: true },
      third: { operator: "add", reads: ["second", "aside"], partCount: 3, isOutput: true },
    },
    1,
    9,
  );
  // Everything is queued at once, so that much is stolen.
  await withPool({ threads, schedule: { queueNs: 1e12 } }, async ({ pool }) => {
    const { data, diary } = diarised(plan, ROWS);
    const parts = partsOf(plan);
    const blocks = Array.from({ length: ROWS }, (_, row) => blockAt(row, 1));
    for (const { inputRow: row } of blocks)
      for (const [node, part] of parts) if (uniform() < 0.2) diary.setDuration([row, node, part], below(200));
    const open = await pool.open(data);
    const running: Promise<void>[] = [];
    for (const block of blocks) {
      await open.room();
      running.push(open.run(block));
    }
    await Promise.all(running);
    const wrong = blocks.flatMap(({ inputRow: row }) =>
      parts.filter(([node, part]) => diary.runs([row, node, part]) !== 1),
    );
    expect(wrong, `seed ${seed}`).toEqual([]);
    const alone = diarised(plan, ROWS);
    const openAlone = await pool.open(alone.data);
    for (const block of blocks) await openAlone.run(block);
    const bits = [data, alone.data].map(({ results }) => results.map((result) => bitsOf(result!)));
    expect(bits[0], `seed ${seed}`).toEqual(bits[1]);
  });
});

test("an idle pool uses no processor, before its first run and after runs", async () => {
  await withPool({ threads: 4 }, async ({ pool, runOnce }) => {
    /** CPU ms of all threads in the quietest of a few thirds of a second: the test's own process has other work. */
    const quietMs = async () => {
      let least = Number.POSITIVE_INFINITY;
      for (let tries = 0; tries < 5 && least > 60; tries++) {
        const before = process.cpuUsage();
        await delay(300);
        const { user, system } = process.cpuUsage(before);
        least = Math.min(least, (user + system) / 1000);
      }
      return least;
    };
    expect(await quietMs()).toBeLessThan(60);
    const { data } = diarised(smallPlan({ a: { operator: "add_one", reads: ["x"], partCount: 5 } }, 4, 9), 4);
    await runOnce(data);
    const open = await pool.open(diarised(data.plan, 12).data);
    await Promise.all([0, 4, 8].map((row) => open.run(blockAt(row, 4))));
    expect(await quietMs()).toBeLessThan(60);
    pool.restartExecutor(0);
    await delay(300);
    expect(await quietMs()).toBeLessThan(60);
  });
});
