import workerThreads from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { ResourceError, UsageError } from "../../src/errors.ts";
import { ExecutorPool } from "../../src/execution/executor_pool.ts";
import { bitsOf, blockAt, dataOf, type SmallNodes, smallPlan, waves } from "./small_plan.ts";
import { type TestPool, withPool } from "./test_pool.ts";

const healthy = smallPlan({ a: { operator: "add_one", reads: ["x"], partCount: 3, isOutput: true } }, 6, 4);

/** A graph whose middle node does what `operator` does; the others add one. */
const around = (operator: string, partCount = 4): SmallNodes => ({
  before: { operator: "add_one", reads: ["x"], partCount },
  middle: { operator, reads: ["before"], partCount },
  after: { operator: "add_one", reads: ["middle"], partCount, isOutput: true },
  aside: { operator: "add_one", reads: ["x"], partCount, isOutput: true },
});

async function expectUsable({ runOnce }: TestPool): Promise<void> {
  const [a] = await runOnce(dataOf(healthy));
  expect(bitsOf(a!)).toEqual(bitsOf(waves(24, 1).map((value) => value + 1)));
}

describe.each([1, 2])("on %i executors", (threads) => {
  test.each([
    "exit_once",
    "exhaust_heap_once",
  ])("an executor lost to %s is replaced, and no bit differs", async (operator) => {
    await withPool({ threads, heapMebibytesMax: 32 }, async (testPool) => {
      const results = await testPool.runOnce(dataOf(smallPlan(around(operator), 20, 5)));
      const expected = await testPool.runOnce(dataOf(smallPlan(around("add_one"), 20, 5)));
      expect(results.map(bitsOf)).toEqual(expected.map(bitsOf));
      await expectUsable(testPool);
    });
  });

  test.each([
    "exit",
    "exhaust_heap",
  ])("a part that loses two executors to %s fails its run", async (operator) => {
    await withPool({ threads, heapMebibytesMax: 32 }, async (testPool) => {
      const failing = testPool.runOnce(dataOf(smallPlan(around(operator, 1), 2, 1)));
      await expect(failing).rejects.toThrow(ResourceError);
      await expect(failing).rejects.toThrow(
        new RegExp(`^E402 the operator ${operator} ended its thread twice`),
      );
      await expectUsable(testPool);
    });
  });

  test("other runs survive one that keeps losing executors", async () => {
    await withPool({ threads }, async (testPool) => {
      const failing = testPool.runOnce(dataOf(smallPlan(around("exit"), 8, 1)));
      const calls = Array.from({ length: 5 }, () => expectUsable(testPool));
      await expect(failing).rejects.toThrow("E402");
      await Promise.all(calls);
    });
  });

  test("an operator that throws fails its run with its own words, and takes no thread with it", async () => {
    await withPool({ threads }, async (testPool) => {
      const failing = testPool.runOnce(dataOf(smallPlan(around("throw"), 8, 1)));
      await expect(failing).rejects.toThrow(
        /^E900 the operator throw failed in node 2: RangeError: no such value/,
      );
      const text = testPool.runOnce(dataOf(smallPlan(around("throw_text"), 8, 1)));
      await expect(text).rejects.toThrow("failed in node 2: a text");
      await expectUsable(testPool);
    });
  });

  test("an operator of the user's that throws is the user's error, named", async () => {
    await withPool({ threads }, async (testPool) => {
      const failing = testPool.runOnce(dataOf(smallPlan(around("throw_as_user"), 8, 1)));
      await expect(failing).rejects.toThrow(UsageError);
      await expect(failing).rejects.toThrow(
        "E515 the operator throw_as_user failed: RangeError: no such value\n",
      );
      await expectUsable(testPool);
    });
  });

  test("a plan whose operators do not load in a thread fails its runs, and no other", async () => {
    await withPool({ threads }, async (testPool) => {
      const module = "file:///main_thread_only.ts";
      const operators = [{ facts: { name: "unloadable" }, functions: {}, module, digest: "" }];
      const failing = testPool.runOnce(dataOf(smallPlan(around("unloadable"), 8, 1), 8, { operators }));
      const calls = Array.from({ length: 5 }, () => expectUsable(testPool));
      await expect(failing).rejects.toThrow(
        "E515 the operator unloadable cannot be loaded by executor threads: Error: this module is for the main thread",
      );
      await Promise.all(calls);
      await expectUsable(testPool);
    });
  });

  test("an executor lost in the middle of a block leaves no trace in the state of operators", async () => {
    const nodes = (operator: string): SmallNodes => ({
      sum: { operator, reads: ["x"], partCount: 2, isOutput: true },
      after: { operator: "cum_sum", reads: ["sum"], isOutput: true },
    });
    const runBlocks = async (operator: string) => {
      const data = dataOf(smallPlan(nodes(operator), 4, 3), 8);
      data.fields.get("x")!.fill(1.5);
      await withPool({ threads }, async ({ pool }) => {
        const open = await pool.open(data);
        await open.run(blockAt(0, 4));
        await open.run(blockAt(4, 4));
      });
      return data.results.map((result) => bitsOf(result!));
    };
    expect(await runBlocks("cum_sum_exit_once")).toEqual(await runBlocks("cum_sum"));
  });
});

/** Runs `body` while the threads started after the first `healthyCount` and up to the `last`th die as they start. */
async function withDyingThreads(healthyCount: number, last: number, body: () => Promise<void>) {
  const { Worker } = workerThreads;
  let started = 0;
  class DyingWorker extends Worker {
    constructor(...args: ConstructorParameters<typeof Worker>) {
      super(...args);
      started++;
      if (started > healthyCount && started <= last) void this.terminate();
    }
  }
  workerThreads.Worker = DyingWorker;
  try {
    await body();
  } finally {
    workerThreads.Worker = Worker;
  }
  expect(started).toBeGreaterThan(healthyCount);
}

describe("replacements that die while they start", () => {
  // The scheduler and one executor; every later thread stands in for a lost one.
  const healthyCount = 2;
  const plan = smallPlan(around("exit_once"), 8, 1);

  test("are replaced in turn", async () => {
    await withDyingThreads(healthyCount, healthyCount + 4, () =>
      withPool({ threads: 1 }, async (testPool) => {
        expect(await testPool.runOnce(dataOf(plan))).toHaveLength(2);
        await expectUsable(testPool);
      }),
    );
  });

  test("end the pool when there is no end to them", async () => {
    await withDyingThreads(healthyCount, Number.POSITIVE_INFINITY, () =>
      withPool({ threads: 1 }, async ({ runOnce }) => {
        await expect(runOnce(dataOf(plan))).rejects.toThrow("E403 executors are lost as soon as they start");
      }),
    );
  });
});

test("executors that cannot be replaced end the pool, not in a hang", async () => {
  await withPool({ threads: 2 }, async ({ runOnce, leaveMark }) => {
    leaveMark("poisoned");
    const failing = runOnce(dataOf(smallPlan(around("exit"), 8, 1)));
    await expect(failing).rejects.toThrow(/^E40[23] /);
    const fatal = runOnce(dataOf(smallPlan(around("exit"), 8, 1)));
    await expect(fatal).rejects.toThrow(
      /^E403 executors are lost as soon as they start: this module was poisoned/,
    );
    await expect(runOnce(dataOf(healthy))).rejects.toThrow("E403");
  });
});

describe("starting", () => {
  test("fails with the cause if the runner cannot be loaded", async () => {
    const runnerUrl = new URL("./fixtures/no_such_module.ts", import.meta.url);
    const starting = ExecutorPool.start({ threads: 2, runnerUrl });
    await expect(starting).rejects.toThrow(/^E403 an executor did not start: .*no_such_module/);
  });
});
