import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { suppressUnhandled } from "../../src/evaluation/awaiting.ts";
import {
  type ExecutorPool,
  type OpenPlan,
  OVERLAPPING_BLOCKS_MAX,
  type PlanData,
} from "../../src/execution/executor_pool.ts";
import type { BlockRunOptions } from "../../src/execution/open_plan.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { Seeded } from "../support/seeded.ts";
import { until } from "../support/until.ts";
import { diarised, type PartDiary, partsOf } from "./part_diary.ts";
import { bitsOf, type SmallNodes, smallPlan } from "./small_plan.ts";
import { withPool } from "./test_pool.ts";

const BLOCK_ROWS = 2;
const BLOCK_COUNT = 12;
const ROWS = BLOCK_COUNT * BLOCK_ROWS;
const LANES = 7;

/** A sum over all rows before, two ways around it, and a node that nothing reads. */
const nodes = (partCount: number): SmallNodes => ({
  sum: { operator: "cum_sum", reads: ["x"], partCount },
  left: { operator: "add_one", reads: ["sum"], partCount },
  right: { operator: "add", reads: ["sum", "y"], partCount: 2 },
  both: { operator: "add", reads: ["left", "right"], partCount, isOutput: true },
  aside: { operator: "add_one", reads: ["y"], partCount: 1, isOutput: true },
});
const SUM = 1;
const LEFT = 2;
const ASIDE = 5;

const blockOf = (index: number) => {
  const row = index * BLOCK_ROWS;
  return { firstRow: row, rowCount: BLOCK_ROWS, inputRow: row, outputRow: row };
};

const allBlocks = Array.from({ length: BLOCK_COUNT }, (_, index) => blockOf(index));

/** Begins blocks as soon as there is room; resolves when the last one has begun or was refused. */
async function begin(
  open: OpenPlan,
  blocks = allBlocks,
  optionsOf: (index: number) => BlockRunOptions = () => ({}),
): Promise<Promise<void>[]> {
  const running: Promise<void>[] = [];
  for (const [index, block] of blocks.entries()) {
    await open.room();
    running.push(suppressUnhandled(open.run(block, optionsOf(index))));
  }
  return running;
}

async function runAll(open: OpenPlan, overlap = OVERLAPPING_BLOCKS_MAX): Promise<void> {
  const underWay: Promise<void>[] = [];
  for (const block of allBlocks) {
    if (underWay.length === overlap) await underWay.shift();
    underWay.push(open.run(block));
  }
  await Promise.all(underWay);
}

/** Goes back to row 0, as if nothing had run. */
async function restart(open: OpenPlan, { arenas }: PlanData): Promise<void> {
  await open.idle();
  open.restart();
  for (const { memory } of arenas) new Uint8Array(memory.buffer).fill(0);
}

const resultBits = ({ results }: PlanData) => results.map((result) => bitsOf(result!)).join(";");

/** Outcomes of promises: `done`, or the message of the error. */
async function outcomes(promises: readonly Promise<void>[]): Promise<string[]> {
  const settled = await Promise.allSettled(promises);
  return settled.map((one) => (one.status === "fulfilled" ? "done" : String(one.reason.message)));
}

/** Blocks the main thread, so that it does not receive what other threads post meanwhile. */
function deafUntil(holds: () => boolean): void {
  const word = new Int32Array(new SharedArrayBuffer(4));
  while (!holds()) Atomics.wait(word, 0, 0, 1);
  // The part has been run; its message takes a moment.
  Atomics.wait(word, 0, 0, 30);
}

describe("blocks that overlap", () => {
  test("leave the bits of one block at a time, on any number of threads, parts and blocks under way", async () => {
    const { seed, uniform, below } = new Seeded();
    const seen = new Set<string>();
    for (const threads of [1, 2, 4]) {
      await withPool({ threads }, async ({ pool }) => {
        for (const partCount of [1, 3, 7]) {
          for (const overlap of [1, 2, OVERLAPPING_BLOCKS_MAX]) {
            const { data, diary } = diarised(smallPlan(nodes(partCount), BLOCK_ROWS, LANES), ROWS);
            const all = allBlocks.flatMap(({ firstRow }) =>
              partsOf(data.plan).map(([node, part]) => [firstRow, node, part] as const),
            );
            for (const part of all) diary.setDuration(part, uniform() < 0.5 ? 0 : below(300));
            const open = await pool.open(data);
            await runAll(open, overlap);
            await open.close();
            seen.add(resultBits(data));
            const runs = all.filter((part) => diary.runs(part) !== 1);
            expect(runs, `seed ${seed}: not run once`).toEqual([]);
          }
        }
      });
    }
    expect(seen, `seed ${seed}`).toHaveLength(1);
  });

  test("do overlap: a node begins a block while another one is at the block before", async () => {
    await withPool({ threads: 2 }, async ({ pool }) => {
      const { data, diary } = diarised(smallPlan(nodes(1), BLOCK_ROWS, LANES), ROWS);
      diary.hold([0, LEFT, 0]);
      const open = await pool.open(data);
      const running = [0, 1].map((index) => open.run(blockOf(index)));
      await until(() => diary.runs([BLOCK_ROWS, ASIDE, 0]) === 1);
      // Its reader is held in the block before.
      expect(diary.began([BLOCK_ROWS, SUM, 0])).toBe(0);
      diary.letGo([0, LEFT, 0]);
      await Promise.all(running);
      expect(diary.began([BLOCK_ROWS, SUM, 0])).toBeGreaterThan(diary.ended([0, LEFT, 0]));
    });
  });

  test("end in order, whichever is done first", async () => {
    await withPool({ threads: 2 }, async ({ pool }) => {
      const { data } = diarised(smallPlan(nodes(3), BLOCK_ROWS, LANES), ROWS);
      const open = await pool.open(data);
      const ended: number[] = [];
      const running = await begin(open);
      await Promise.all(running.map((run, index) => run.then(() => void ended.push(index))));
      expect(ended).toEqual(allBlocks.map((_, index) => index));
      expect(open.nextRow).toBe(24);
    });
  });
});

/** A plan in which a part of the second block throws or dies, with all blocks under way. */
async function runFaulty(
  pool: ExecutorPool,
  prepare: (diary: PartDiary) => void,
): Promise<{ open: OpenPlan; ends: string[]; data: PlanData; diary: PartDiary }> {
  const { data, diary } = diarised(smallPlan(nodes(3), BLOCK_ROWS, LANES), ROWS);
  prepare(diary);
  const open = await pool.open(data);
  const ends = await outcomes(await begin(open, allBlocks.slice(0, 5)));
  return { open, ends, data, diary };
}

/** The results of a plan in which nothing happens. */
async function undisturbedBits(pool: ExecutorPool): Promise<string> {
  const { data } = diarised(smallPlan(nodes(3), BLOCK_ROWS, LANES), ROWS);
  await runAll(await pool.open(data), 1);
  return resultBits(data);
}

async function expectUsable(pool: ExecutorPool): Promise<void> {
  const { data } = diarised(smallPlan(nodes(2), BLOCK_ROWS, LANES), ROWS);
  await runAll(await pool.open(data), 2);
}

describe.each([1, 3])("a failing part on %i executors", (threads) => {
  test("fails its block with its error, and those behind it, until the plan restarts", async () => {
    await withPool({ threads }, async ({ pool }) => {
      const { open, ends, data } = await runFaulty(pool, (diary) => diary.setFailures([2, LEFT, 1], 1));
      const failed = expect.stringMatching(
        /^E900 the operator add_one failed in node 2: RangeError: part 2 2 1/,
      );
      expect(ends).toEqual(["done", failed, failed, failed, failed]);
      expect(await outcomes([open.run(blockOf(1)), open.run(blockOf(0), { block: "again" })])).toEqual([
        failed,
        failed,
      ]);
      await restart(open, data);
      await runAll(open);
      expect(resultBits(data)).toBe(await undisturbedBits(pool));
      await open.close();
      expect(() => open.restart()).toThrow("E404");
      await expectUsable(pool);
    });
  });

  test("that ends its thread twice fails its block with E402", async () => {
    await withPool({ threads }, async ({ pool }) => {
      const aside = diarised(smallPlan(nodes(3), BLOCK_ROWS, LANES), ROWS);
      const undisturbed = await undisturbedBits(pool);
      const other = pool.open(aside.data).then((open) => runAll(open, 3));
      const { ends, diary } = await runFaulty(pool, (diary) => diary.setDeaths([2, SUM, 0], 2));
      const failed = expect.stringMatching(/^E402 the operator cum_sum ended its thread twice in a row/);
      expect(ends).toEqual(["done", failed, failed, failed, failed]);
      expect(diary.runs([2, SUM, 0])).toBe(0);
      await other;
      expect(resultBits(aside.data)).toBe(undisturbed);
      await expectUsable(pool);
    });
  });

  test("that ends its thread once leaves no trace", async () => {
    await withPool({ threads }, async ({ pool }) => {
      const { ends, diary } = await runFaulty(pool, (diary) => {
        for (const row of [0, 2, 4]) diary.setDeaths([row, SUM, 1], 1);
      });
      expect(ends).toEqual(new Array(5).fill("done"));
      expect([0, 2, 4].map((row) => diary.runs([row, SUM, 1]))).toEqual([1, 1, 1]);
    });
  });

  test("of the last block, which runs again, leaves the block as it was", async () => {
    await withPool({ threads }, async ({ pool }) => {
      const { data, diary } = diarised(smallPlan(nodes(3), BLOCK_ROWS, LANES), ROWS);
      const open = await pool.open(data);
      for (const block of allBlocks) {
        await open.run(block);
        diary.setFailures([block.firstRow, LEFT, 1], 1);
        await expect(open.run(block, { block: "again" })).rejects.toThrow(`part ${block.firstRow} 2 1`);
        expect(open.nextRow).toBe(block.firstRow + BLOCK_ROWS);
      }
      expect(resultBits(data)).toBe(await undisturbedBits(pool));
    });
  });
});

test("each of two failing blocks under way has its own words", async () => {
  await withPool({ threads: 2 }, async ({ pool }) => {
    const { data, diary } = diarised(smallPlan(nodes(1), BLOCK_ROWS, LANES), ROWS);
    diary.hold([0, LEFT, 0]);
    diary.setFailures([0, LEFT, 0], 1);
    diary.setFailures([2, ASIDE, 0], 1);
    const open = await pool.open(data);
    const running = [0, 1].map((index) => open.run(blockOf(index)));
    const ends = outcomes(running);
    await until(() => diary.began([2, ASIDE, 0]) > 0);
    await delay(20);
    diary.letGo([0, LEFT, 0]);
    expect((await ends)[0]).toMatch(/failed in node 2: RangeError: part 0 2 0/);
  });
});

test("a block that is submitted while the failure of the one before is on its way is cut off", async () => {
  await withPool({ threads: 1 }, async ({ pool }) => {
    const { data, diary } = diarised(smallPlan(nodes(1), BLOCK_ROWS, LANES), ROWS);
    diary.setFailures([0, SUM, 0], 1);
    const open = await pool.open(data);
    const first = open.run(blockOf(0));
    deafUntil(() => diary.began([0, SUM, 0]) > 0);
    const ends = await outcomes([first, open.run(blockOf(1))]);
    const failed = expect.stringContaining("part 0 1 0");
    expect(ends).toEqual([failed, failed]);
  });
});

describe("aborting", () => {
  const enough = "enough";
  test.each([
    { which: 0, expected: [enough, enough, enough] },
    { which: 1, expected: ["done", enough, enough] },
    { which: 2, expected: ["done", "done", enough] },
  ])("block $which of those under way ends those behind it, until the plan restarts", async ({
    which,
    expected,
  }) => {
    await withPool({ threads: 2 }, async ({ pool }) => {
      const { data, diary } = diarised(smallPlan(nodes(3), BLOCK_ROWS, LANES), ROWS);
      diary.hold([0, SUM, 1]);
      const open = await pool.open(data);
      const controllers = [0, 1, 2].map(() => new AbortController());
      const ends = outcomes(controllers.map(({ signal }, index) => open.run(blockOf(index), { signal })));
      await until(() => diary.began([0, SUM, 1]) > 0);
      const waiting = begin(open, [blockOf(3)]);
      controllers[which]!.abort(new Error("enough"));
      diary.letGo([0, SUM, 1]);
      expect(await ends).toEqual(expected);
      expect(await outcomes(await waiting)).toEqual([enough]);
      expect(await outcomes([open.run(blockOf(which))])).toEqual([enough]);
      await restart(open, data);
      await runAll(open);
      expect(resultBits(data)).toBe(await undisturbedBits(pool));
    });
  });

  test("the last block, which runs again, leaves the block as it was", async () => {
    await withPool({ threads: 2 }, async ({ pool }) => {
      const { data, diary } = diarised(smallPlan(nodes(3), BLOCK_ROWS, LANES), ROWS);
      const open = await pool.open(data);
      for (const block of allBlocks.slice(0, 3)) {
        const part = [block.firstRow, LEFT, 1] as const;
        await open.run(block);
        const before = diary.began(part);
        diary.hold(part);
        const controller = new AbortController();
        const aborted = open.run(block, { block: "again", signal: controller.signal });
        await until(() => diary.began(part) > before);
        controller.abort();
        await expect(aborted).rejects.toMatchObject({ name: "AbortError" });
        await expect(open.run(block)).rejects.toThrow("before there is room");
        diary.letGo(part);
        await open.room();
      }
      await Promise.all(await begin(open, allBlocks.slice(3)));
      expect(resultBits(data)).toBe(await undisturbedBits(pool));
    });
  });

  test("a block whose end is on its way: it does not stand", async () => {
    await withPool({ threads: 1 }, async ({ pool }) => {
      const { data, diary } = diarised(smallPlan(nodes(1), BLOCK_ROWS, LANES), ROWS);
      const open = await pool.open(data);
      const controller = new AbortController();
      const run = open.run(blockOf(0), { signal: controller.signal });
      deafUntil(() => data.plan.nodes.every(({ id }) => diary.runs([0, id, 0]) === 1));
      controller.abort(new Error("enough"));
      await expect(run).rejects.toThrow("enough");
      await delay(20);
      await expect(open.run(blockOf(1))).rejects.toThrow("enough");
    });
  });
});

test("a restart is refused while blocks are under way", async () => {
  await withPool({ threads: 1 }, async ({ pool }) => {
    const { data } = diarised(smallPlan(nodes(1), BLOCK_ROWS, LANES), ROWS);
    const open = await pool.open(data);
    const running = [0, 1].map((index) => open.run(blockOf(index)));
    expect(() => open.restart()).toThrow("a run of the plan is under way");
    await running[0];
    expect(() => open.restart()).toThrow("a run of the plan is under way");
    await running[1];
    open.restart();
    expect(open.nextRow).toBe(0);
  });
});

describe("a plan with conditions", () => {
  const HISTORY = 8;
  /** `one` is run where the first condition holds, `two` where the second does; `last` always. */
  const conditional = (): Plan => {
    const plan = smallPlan(
      {
        one: { operator: "add_one", reads: ["x"], partCount: 2, isOutput: true },
        two: { operator: "add", reads: ["x", "x"], partCount: 2, isOutput: true },
        last: { operator: "add_one", reads: ["y"], isOutput: true },
      },
      HISTORY,
      LANES,
    );
    const conditions = [null, [1], [2], null];
    return {
      ...plan,
      nodes: plan.nodes.map((node, id) => ({ ...node, conditions: conditions[id]!, replayRows: 3 })),
    };
  };

  test("is run one block at a time, and only what its conditions ask for", async () => {
    await withPool({ threads: 3 }, async ({ pool }) => {
      const { data, diary } = diarised(conditional(), ROWS);
      const parts = partsOf(data.plan);
      const open = await pool.open(data);
      const held = (index: number) => [index % 3 === 0, index % 2 === 0];
      await Promise.all(await begin(open, allBlocks, (index) => ({ conditions: held(index) })));
      let lastEnd = 0;
      for (const [index, { firstRow }] of allBlocks.entries()) {
        const [one, two] = held(index);
        const isRun = [true, one, two, true];
        for (const [node, part] of parts)
          expect(diary.runs([firstRow, node, part]), `block ${index}, node ${node}`).toBe(
            isRun[node] ? 1 : 0,
          );
        const ran = parts
          .filter(([node]) => isRun[node])
          .map(([node, part]) => [firstRow, node, part] as const);
        expect(Math.min(...ran.map((part) => diary.began(part)))).toBeGreaterThan(lastEnd);
        lastEnd = Math.max(...ran.map((part) => diary.ended(part)));
      }
    });
  });

  test("has its nodes catch up: by replaying a short gap, by an early start after a long one", async () => {
    await withPool({ threads: 2 }, async ({ pool }) => {
      const { data, diary } = diarised(conditional(), ROWS);
      const open = await pool.open(data);
      const held = [true, false, true, false, false, true];
      for (const [index, isHeld] of held.entries())
        await open.run(blockOf(index), { conditions: [isHeld, false] });
      const starts = held.map((_, index) => diary.startRow([index * BLOCK_ROWS, 1, 0]));
      // Two rows were skipped, then four: more than are replayed, and no early start is needed.
      expect(starts).toEqual([0, null, 2, null, null, 10]);
      expect(diary.startRow([10, 3, 0])).toBe(10);
    });
  });

  test("without conditions runs everything", async () => {
    await withPool({ threads: 2 }, async ({ pool }) => {
      const { data, diary } = diarised(conditional(), ROWS);
      const open = await pool.open(data);
      await runAll(open, 3);
      for (const { firstRow } of allBlocks)
        for (const [node, part] of partsOf(data.plan)) expect(diary.runs([firstRow, node, part])).toBe(1);
    });
  });
});
