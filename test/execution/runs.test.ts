import { execFile } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { InternalError, ResourceError } from "../../src/errors.ts";
import type { PlanData } from "../../src/execution/executor_pool.ts";
import { bitsOf, blockAt, dataOf, type SmallNode, type SmallNodes, smallPlan } from "./small_plan.ts";
import { withPool } from "./test_pool.ts";

const quick = smallPlan({ a: { operator: "add_one", reads: ["x"], isOutput: true } }, 3, 2);
/** Takes until the mark `go` is left; `count` such nodes side by side. */
const waiting = (count: number) =>
  smallPlan(
    Object.fromEntries(
      Array.from({ length: count }, (_, i): [string, SmallNode] => [
        `n${i}`,
        { operator: "wait", reads: ["x"], isOutput: true },
      ]),
    ),
    1,
    1,
  );

describe("an open plan", () => {
  const sums = smallPlan({ sum: { operator: "cum_sum", reads: ["x"], partCount: 2, isOutput: true } }, 4, 3);
  const ones = (rowCount: number) => {
    const data = dataOf(sums, rowCount);
    data.fields.get("x")!.fill(1);
    return data;
  };

  test("is run block by block, and each goes on where the last one ended", async () => {
    await withPool({ threads: 2 }, async ({ pool }) => {
      const data = ones(10);
      const open = await pool.open(data);
      expect(open.nextRow).toBe(0);
      for (const rowCount of [4, 1, 3, 2]) await open.run(blockAt(open.nextRow, rowCount));
      expect(open.nextRow).toBe(10);
      expect([...data.results[0]!]).toEqual(
        Array.from({ length: 30 }, (_, cell) => 1 + Math.floor(cell / 3)),
      );
      expect(open.nodeNs.every((ns) => ns > 0)).toBe(true);
      await open.close();
    });
  });

  test("may run its newest block again, with other input", async () => {
    await withPool({ threads: 1 }, async ({ pool }) => {
      const data = ones(2);
      const open = await pool.open(data);
      await open.run(blockAt(0, 1));
      for (const value of [5, 7, 2]) {
        data.fields.get("x")!.fill(value, 3, 6);
        await open.run(blockAt(1, 1), { block: value === 5 ? "next" : "again" });
        expect(data.results[0]![3]).toBe(1 + value);
      }
    });
  });

  test("refuses a block for which there is no room", async () => {
    await withPool({ threads: 2 }, async ({ pool }) => {
      const data = ones(4);
      const open = await pool.open(data);
      await expect(open.run(blockAt(0, 1), { block: "again" })).rejects.toThrow("no block has run");
      const running = [0, 1, 2].map((row) => open.run(blockAt(row, 1)));
      await expect(open.run(blockAt(3, 1))).rejects.toThrow("before there is room");
      await expect(open.run(blockAt(2, 1), { block: "again" })).rejects.toThrow("before there is room");
      await open.room();
      running.push(open.run(blockAt(3, 1)));
      await Promise.all(running);
      const again = open.run(blockAt(3, 1), { block: "again" });
      await expect(open.run(blockAt(0, 1))).rejects.toThrow("before there is room");
      await again;
      expect([...data.results[0]!.subarray(9)]).toEqual([4, 4, 4]);
    });
  });

  test("runs no more once it is closed", async () => {
    await withPool({ threads: 1 }, async ({ pool }) => {
      const open = await pool.open(dataOf(quick));
      await Promise.all([open.close(), open.close()]);
      await expect(open.run(blockAt(0, 3))).rejects.toThrow("E404 the plan was closed");
    });
  });

  test("that is closed while it runs rejects the run at once, and is closed with its last part", async () => {
    await withPool({ threads: 1 }, async ({ pool, markSeen, leaveMark }) => {
      const open = await pool.open(dataOf(waiting(3)));
      const run = open.run(blockAt(0, 1));
      await markSeen("started");
      const closing = open.close();
      await expect(run).rejects.toThrow("E404");
      leaveMark("go");
      await closing;
    });
  });
});

describe("aborting", () => {
  test("rejects with the signal's reason at once; the plan can restart once its parts have ended", async () => {
    await withPool({ threads: 2 }, async ({ pool, runOnce, markSeen, leaveMark }) => {
      const controller = new AbortController();
      const data = dataOf(waiting(50));
      const open = await pool.open(data);
      const aborted = open.run(blockAt(0, 1), { signal: controller.signal });
      await markSeen("started");
      controller.abort();
      await expect(aborted).rejects.toMatchObject({ name: "AbortError" });
      await expect(open.run(blockAt(0, 1))).rejects.toMatchObject({ name: "AbortError" });
      leaveMark("go");
      await open.idle();
      open.restart();
      await open.run(blockAt(0, 1));
      expect(data.results[49]![0]).toBe(data.fields.get("x")![0]! + 1);
      expect((await runOnce(dataOf(quick)))[0]).toHaveLength(6);
    });
  });

  test("before the run starts nothing", async () => {
    await withPool({ threads: 1 }, async ({ pool }) => {
      const reason = new Error("not any more");
      const open = await pool.open(dataOf(quick));
      await expect(open.run(blockAt(0, 3), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    });
  });
});

describe("plans that overlap", () => {
  test("do not disturb each other", async () => {
    await withPool({ threads: 2 }, async ({ runOnce }) => {
      const plans = Array.from({ length: 20 }, (_, i) =>
        smallPlan(
          {
            a: { operator: "add", reads: ["x", i], partCount: 5 },
            b: { operator: "add_one", reads: ["a"], isOutput: true },
          },
          50,
          5,
        ),
      );
      const x = new Map([["x", new Float64Array(new SharedArrayBuffer(250 * 8))]]);
      const results = await Promise.all(plans.map((plan) => runOnce(dataOf(plan, 50, { fields: x }))));
      results.forEach(([b], i) => {
        expect([...new Set(b)]).toEqual([i + 1]);
      });
    });
  });

  test("end one by one: a quick run need not wait for a slow one that came first", async () => {
    await withPool({ threads: 2 }, async ({ runOnce, markSeen, leaveMark }) => {
      const slow = runOnce(dataOf(waiting(1)));
      await markSeen("started");
      expect((await runOnce(dataOf(quick)))[0]).toHaveLength(6);
      leaveMark("go");
      expect((await slow)[0]).toHaveLength(1);
    });
  });
});

describe("closing the pool", () => {
  test("rejects what runs and what comes later, even while a kernel is stuck", async () => {
    await withPool({ threads: 2 }, async ({ pool, runOnce, markSeen }) => {
      const open = await pool.open(dataOf(quick));
      const stuck = runOnce(dataOf(waiting(3)));
      await markSeen("started");
      const closing = pool.close();
      await expect(stuck).rejects.toThrow("E404 the engine was closed");
      await closing;
      await expect(open.run(blockAt(0, 3))).rejects.toThrow("E404 the engine was closed");
      await open.close();
      await expect(pool.open(dataOf(quick))).rejects.toThrow(ResourceError);
      await pool.close();
    });
  });

  test("lets the process exit, and Node reads the sources as they are", async () => {
    const script = `
      import { ExecutorPool } from "./src/execution/executor_pool.ts";
      import { blockAt, dataOf, smallPlan } from "./test/execution/small_plan.ts";
      const runnerUrl = new URL("./test/execution/fixtures/runner.ts", "file://" + process.cwd() + "/");
      const pool = await ExecutorPool.start({ threads: 2, runnerUrl });
      const data = dataOf(smallPlan({ a: { operator: "add", reads: [1, 2], isOutput: true } }, 1, 1));
      await (await pool.open(data)).run(blockAt(0, 1));
      console.log(data.results[0][0]);
      await pool.close();
    `;
    const args = ["--input-type=module", "--eval", script];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { timeout: 120_000 });
    expect([stdout, stderr]).toEqual(["3\n", ""]);
  });
});

describe("results", () => {
  const nodes = (partCount: number): SmallNodes => ({
    spread: { operator: "add", reads: ["close", "open"], partCount },
    sum: { operator: "cum_sum", reads: ["spread"], partCount },
    shifted: { operator: "add", reads: ["sum", 0.25], partCount, isOutput: true },
    both: { operator: "add", reads: ["shifted", "open"], partCount, isOutput: true },
  });

  test("have the same bits for any number of executors, parts and blocks", async () => {
    const seen = new Set<string>();
    for (const threads of [1, 2, 4]) {
      await withPool({ threads }, async ({ pool }) => {
        for (const [partCount, blockRows] of [
          [1, 60],
          [2, 7],
          [7, 1],
          [100, 60],
        ] as const) {
          const data = dataOf(smallPlan(nodes(partCount), blockRows, 11), 60);
          const open = await pool.open(data);
          while (open.nextRow < 60)
            await open.run(blockAt(open.nextRow, Math.min(blockRows, 60 - open.nextRow)));
          await open.close();
          seen.add(data.results.map((result) => bitsOf(result!)).join(";"));
        }
      });
    }
    expect(seen).toHaveLength(1);
  });

  test.each([1, 2, 4])("of 1,000 nodes in a row and 1,000 side by side on %i executors", async (threads) => {
    const inRow = Array.from({ length: 1000 }, (_, i): [string, SmallNode] => [
      `n${i}`,
      { operator: "add_one", reads: [i === 0 ? "x" : `n${i - 1}`], isOutput: i === 999 },
    ]);
    const aside = Array.from({ length: 1000 }, (_, i): [string, SmallNode] => [
      `n${i}`,
      { operator: "add", reads: ["x", i], isOutput: true },
    ]);
    const x = new Map([["x", new Float64Array(new SharedArrayBuffer(16))]]);
    await withPool({ threads }, async ({ runOnce }) => {
      const [last] = await runOnce(dataOf(smallPlan(Object.fromEntries(inRow), 2, 1), 2, { fields: x }));
      expect([...last!]).toEqual([1000, 1000]);
      const all = await runOnce(dataOf(smallPlan(Object.fromEntries(aside), 2, 1), 2, { fields: x }));
      expect(all.map(([cell]) => cell)).toEqual(Array.from({ length: 1000 }, (_, i) => i));
    });
  });
});

test("data or a block that contradicts the plan is a bug of ours, not a hang", async () => {
  const plan = smallPlan(
    { a: { operator: "add_one", reads: ["x"] }, b: { operator: "add_one", reads: ["a"], isOutput: true } },
    2,
    1,
  );
  await withPool({ threads: 1 }, async ({ pool }) => {
    const refuse = async (change: Partial<PlanData>, message: string) => {
      const opening = pool.open({ ...dataOf(plan), ...change });
      await expect(opening).rejects.toThrow(InternalError);
      await expect(opening).rejects.toThrow(message);
    };
    await refuse({ fields: new Map() }, "a missing field");
    await refuse({ results: [] }, "one result per output");
    await refuse({ plan: { ...plan, nodes: [...plan.nodes].reverse() } }, "out of order");
    const memory = new WebAssembly.Memory({ initial: 0, maximum: 1, shared: true });
    const [arena] = dataOf(plan).arenas;
    await refuse({ arenas: [{ ...arena!, memory }] }, "its arena is too small");

    const open = await pool.open(dataOf(plan, 4));
    const block = blockAt(0, 2);
    await expect(open.run({ ...block, rowCount: 3 })).rejects.toThrow("a block of 3 rows");
    await expect(open.run({ ...block, rowCount: 0 })).rejects.toThrow("a block of 0 rows");
    await expect(open.run({ ...block, inputRow: 3 })).rejects.toThrow("beyond the input");
    await expect(open.run({ ...block, outputRow: 3 })).rejects.toThrow("beyond the results");
    await open.run(block);
  });
});

test.each([2, 8])("threads that wait for a part sleep: of %i cores none is kept busy", async (cores) => {
  const drawn = {
    a: { operator: "wait", reads: ["x"] },
    b: { operator: "add_one", reads: ["a"], partCount: 4, isOutput: true },
  };
  await withPool({ threads: 4, cores }, async ({ runOnce, markSeen, leaveMark }) => {
    const running = runOnce(dataOf(smallPlan(drawn, 1, 4)));
    await markSeen("started");
    const before = process.cpuUsage();
    await delay(400);
    const { user, system } = process.cpuUsage(before);
    leaveMark("go");
    await running;
    // Three executors and the scheduler: one of them alone would take 400 ms if it looked for news all the time.
    expect((user + system) / 1000).toBeLessThan(200);
  });
});
