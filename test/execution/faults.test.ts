import workerThreads from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { ResourceError } from "../../src/errors.ts";
import { ExecutorPool } from "../../src/execution/executor_pool.ts";
import { bitsOf } from "../kernel/small_panel.ts";
import { requestOf, type SmallNodes, smallPlan, waves } from "./small_plan.ts";
import { type TestPool, withPool } from "./test_pool.ts";

const healthy = smallPlan({ a: { operator: "add_one", reads: ["x"], partCount: 3, isOutput: true } }, 6, 2);

/** A graph whose middle node does what `operator` does; the others add one. */
const around = (operator: string, partCount = 4): SmallNodes => ({
  before: { operator: "add_one", reads: ["x"], partCount },
  middle: { operator, reads: ["before"], partCount },
  after: { operator: "add_one", reads: ["middle"], partCount, isOutput: true },
  aside: { operator: "add_one", reads: ["x"], partCount, isOutput: true },
});

async function expectUsable({ pool }: TestPool): Promise<void> {
  const result = await pool.run(requestOf(healthy));
  expect(bitsOf(result.column(0))).toEqual(bitsOf(waves(12, 1).map((value) => value + 1)));
}

describe.each([1, 2])("on %i executors", (threads) => {
  test.each([
    "exit_once",
    "exhaust_heap_once",
  ])("an executor lost to %s is replaced, and no bit differs", async (operator) => {
    await withPool({ threads, heapMebibytesMax: 32 }, async (testPool) => {
      const plan = smallPlan(around(operator), 20, 3);
      const result = await testPool.pool.run(requestOf(plan));
      const reference = await testPool.pool.run(requestOf(smallPlan(around("add_one"), 20, 3)));
      for (const node of [2, 3]) expect(bitsOf(result.column(node))).toEqual(bitsOf(reference.column(node)));
      await expectUsable(testPool);
    });
  });

  test.each([
    "exit",
    "exhaust_heap",
  ])("a part that loses two executors to %s fails its call", async (operator) => {
    await withPool({ threads, heapMebibytesMax: 32 }, async (testPool) => {
      const failing = testPool.pool.run(requestOf(smallPlan(around(operator, 1), 2, 1)));
      await expect(failing).rejects.toThrow(ResourceError);
      await expect(failing).rejects.toThrow(
        new RegExp(`^E402 the operator ${operator} ended its thread twice`),
      );
      await expectUsable(testPool);
    });
  });

  test("other calls survive a call that keeps losing executors", async () => {
    await withPool({ threads }, async (testPool) => {
      const failing = testPool.pool.run(requestOf(smallPlan(around("exit"), 8, 1)));
      const calls = Array.from({ length: 5 }, () => expectUsable(testPool));
      await expect(failing).rejects.toThrow("E402");
      await Promise.all(calls);
    });
  });

  test("an operator that throws fails its call with its own words, and takes no thread with it", async () => {
    await withPool({ threads }, async (testPool) => {
      const failing = testPool.pool.run(requestOf(smallPlan(around("throw"), 8, 1)));
      await expect(failing).rejects.toThrow(
        /^E900 the operator throw failed in node 1: RangeError: no such value/,
      );
      const text = testPool.pool.run(requestOf(smallPlan(around("throw_text"), 8, 1)));
      await expect(text).rejects.toThrow("failed in node 1: a text");
      await expectUsable(testPool);
    });
  });

  test("an operator whose module does not load in a thread fails its call, and no other", async () => {
    await withPool({ threads }, async (testPool) => {
      const module = new URL("./fixtures/main_thread_only.ts", import.meta.url).href;
      const operators = [{ facts: { name: "unloadable" }, functions: {}, module }];
      const failing = testPool.pool.run(requestOf(smallPlan(around("unloadable"), 8, 1), { operators }));
      const calls = Array.from({ length: 5 }, () => expectUsable(testPool));
      await expect(failing).rejects.toThrow(
        /^E900 .* the call could not be loaded: .*this module is for the main thread/,
      );
      await Promise.all(calls);
      await expectUsable(testPool);
    });
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
        expect((await testPool.pool.run(requestOf(plan))).column(2)).toHaveLength(8);
        await expectUsable(testPool);
      }),
    );
  });

  test("end the pool when there is no end to them", async () => {
    await withDyingThreads(healthyCount, Number.POSITIVE_INFINITY, () =>
      withPool({ threads: 1 }, async ({ pool }) => {
        await expect(pool.run(requestOf(plan))).rejects.toThrow(
          "E403 executors are lost as soon as they start",
        );
      }),
    );
  });
});

test("executors that cannot be replaced end the pool, not in a hang", async () => {
  await withPool({ threads: 2 }, async ({ pool, leaveMark }) => {
    leaveMark("poisoned");
    const call = pool.run(requestOf(smallPlan(around("exit"), 8, 1)));
    await expect(call).rejects.toThrow(/^E40[23] /);
    const fatal = pool.run(requestOf(smallPlan(around("exit"), 8, 1)));
    await expect(fatal).rejects.toThrow(
      /^E403 executors are lost as soon as they start: this module was poisoned/,
    );
    await expect(pool.run(requestOf(healthy))).rejects.toThrow("E403");
  });
});

describe("starting", () => {
  test("fails with the cause if the operators cannot be loaded", async () => {
    const operatorsUrl = new URL("./fixtures/no_such_module.ts", import.meta.url);
    const starting = ExecutorPool.start({ threads: 2, operatorsUrl });
    await expect(starting).rejects.toThrow(/^E403 an executor did not start: .*no_such_module/);
  });

  test.each([0, 1.5, -1, Number.NaN])("with %s threads is refused", async (threads) => {
    await expect(ExecutorPool.start({ threads })).rejects.toThrow("E505");
  });
});
