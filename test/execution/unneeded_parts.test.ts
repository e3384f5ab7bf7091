import { setTimeout as delay } from "node:timers/promises";
import { describe, test } from "vitest";
import type { BlockRows } from "../../src/execution/open_plan.ts";
import { diarised, type PartDiary } from "./part_diary.ts";
import { blockAt, dataOf, smallPlan } from "./small_plan.ts";
import { withPool } from "./test_pool.ts";

const ROWS = 2;
const single = smallPlan({ a: { operator: "add_one", reads: ["x"], isOutput: true } }, ROWS, 1);
const chain = smallPlan(
  { a: { operator: "add_one", reads: ["x"] }, b: { operator: "add_one", reads: ["a"], isOutput: true } },
  ROWS,
  1,
);

/** Block `index` of two rows. */
function twoRows(index: number): BlockRows {
  return blockAt(ROWS * index, ROWS);
}

async function begun(diary: PartDiary, part: Parameters<PartDiary["began"]>[0]): Promise<void> {
  while (diary.began(part) === 0) await delay(2);
}

/** Parts whose runs were closed or aborted, and that do not end by themselves: 2 s later their threads are ended. */
describe.concurrent("a part that nobody needs any more and that does not end", () => {
  test("lets its plan be closed, also where the block before has just ended", async ({ expect }) => {
    await withPool({ threads: 1 }, async ({ pool }) => {
      const { data, diary } = diarised(chain, 2 * ROWS);
      diary.hold([ROWS, 2, 0]);
      const open = await pool.open(data);
      const runs = Promise.allSettled([open.run(twoRows(0)), open.run(twoRows(1))]);
      // This thread does nothing else meanwhile: the end of the first block lies in its mail when it closes the plan.
      const never = new Int32Array(new SharedArrayBuffer(4));
      while (diary.began([ROWS, 2, 0]) === 0) Atomics.wait(never, 0, 0, 1);
      Atomics.wait(never, 0, 0, 20);
      const first = diary.began([ROWS, 2, 0]);
      await open.close();
      expect((await runs).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
      expect(diary.began([ROWS, 2, 0]), "it is not run again").toBe(first);
    });
  });

  test("lets its plan be closed, also where it begins late, behind another plan", async ({ expect }) => {
    await withPool({ threads: 1 }, async ({ pool }) => {
      const [slow, stuck] = [diarised(single, ROWS), diarised(single, ROWS)];
      slow.diary.hold([0, 1, 0]);
      stuck.diary.hold([0, 0, 0]);
      const slowRun = (await pool.open(slow.data)).run(twoRows(0));
      await begun(slow.diary, [0, 1, 0]);
      const open = await pool.open(stuck.data);
      const stuckRun = open.run(twoRows(0));
      // Until its part is queued.
      await delay(50);
      const closing = open.close();
      await expect(stuckRun).rejects.toThrow("E404");
      // Later than the first look at what still runs.
      await delay(2200);
      slow.diary.letGo([0, 1, 0]);
      await slowRun;
      await closing;
      expect(stuck.diary.runs([0, 0, 0])).toBe(0);
    });
  });

  test("costs no thread that runs a part of an earlier block of its plan", async ({ expect }) => {
    await withPool({ threads: 2 }, async ({ pool }) => {
      const { data, diary } = diarised(single, 2 * ROWS);
      diary.setDuration([0, 1, 0], 2_400_000);
      const open = await pool.open(data);
      const needed = open.run(twoRows(0));
      const { signal, abort } = abortable();
      const aborted = open.run(twoRows(1), { signal });
      await begun(diary, [0, 1, 0]);
      const first = diary.began([0, 1, 0]);
      abort();
      await expect(aborted).rejects.toThrow("enough");
      await needed;
      await open.idle();
      expect(diary.began([0, 1, 0])).toBe(first);
      await open.close();
    });
  });

  test("costs other calls nothing, on however many threads such parts run", async ({ expect }) => {
    const threads = 12;
    await withPool({ threads }, async ({ pool, runOnce }) => {
      const drawn = { a: { operator: "add_one", reads: ["x"], partCount: threads, isOutput: true } };
      const { data, diary } = diarised(smallPlan(drawn, 1, threads), 1);
      const parts = Array.from({ length: threads }, (_, part) => [0, 1, part] as const);
      for (const part of parts) diary.hold(part);
      const open = await pool.open(data);
      const { signal, abort } = abortable();
      const run = open.run(blockAt(0, 1), { signal });
      for (const part of parts) await begun(diary, part);
      abort();
      await expect(run).rejects.toThrow("enough");
      await open.close();
      await runOnce(dataOf(single));
    });
  });
});

function abortable(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort(new Error("enough")) };
}
