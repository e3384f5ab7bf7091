import { readFileSync } from "node:fs";
import { join } from "node:path";
import workerThreads from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { ResourceError } from "../../src/errors.ts";
import { ExecutorPool } from "../../src/execution/executor_pool.ts";
import { bitsOf, dataOf, smallPlan, waves } from "./small_plan.ts";
import { type TestPool, withPool } from "./test_pool.ts";

const drawn = { a: { operator: "add_one", reads: ["x"], partCount: 3, isOutput: true } };
const healthy = smallPlan(drawn, 6, 4);

async function expectUsable({ runOnce }: TestPool): Promise<void> {
  const [a] = await runOnce(dataOf(healthy));
  expect(bitsOf(a!)).toEqual(bitsOf(waves(24, 1).map((value) => value + 1)));
}

/** Runs `body` while the system refuses every thread after the first `givenCount`. */
async function withoutThreads(givenCount: number, body: () => Promise<void>): Promise<number> {
  const { Worker } = workerThreads;
  let asked = 0;
  class RefusedWorker extends Worker {
    constructor(...args: ConstructorParameters<typeof Worker>) {
      // What Node throws where `pthread_create` gives EAGAIN.
      if (asked++ >= givenCount) throw Object.assign(new Error("EAGAIN"), { code: "ERR_WORKER_INIT_FAILED" });
      super(...args);
    }
  }
  workerThreads.Worker = RefusedWorker;
  try {
    await body();
  } finally {
    workerThreads.Worker = Worker;
  }
  return asked;
}

describe("a thread that the system refuses", () => {
  test.each([0, 1, 3])("at the start is E403 (%i are given)", async (givenCount) => {
    await withoutThreads(givenCount, async () => {
      const starting = ExecutorPool.start({ threads: 4 });
      await expect(starting).rejects.toThrow(ResourceError);
      await expect(starting).rejects.toThrow("E403 the system refuses another thread: EAGAIN");
    });
  });

  test("in place of a lost one is E403 of the call, and of later ones", async () => {
    const asked = await withoutThreads(3, () =>
      withPool({ threads: 2 }, async ({ runOnce }) => {
        const exiting = { a: { operator: "exit_once", reads: ["x"], isOutput: true } };
        await expect(runOnce(dataOf(smallPlan(exiting, 6, 4)))).rejects.toThrow(
          "E403 the system refuses another thread: EAGAIN",
        );
        await expect(runOnce(dataOf(healthy))).rejects.toThrow("E403");
      }),
    );
    // Once, by the pool: nothing else starts a replacement.
    expect(asked).toBe(4);
  });
});

describe("a plan that ends the threads that load it", () => {
  // The last are more losses than a pool accepts of threads that begin nothing.
  test.each([1, 2, 20])("is given up, and no other (%i executors)", async (threads) => {
    await withPool({ threads }, async (testPool) => {
      const operators = [{ facts: { name: "exit_on_load" }, functions: {}, module: null, digest: "" }];
      const bad = dataOf(healthy, 6, { operators });
      const failing = testPool.runOnce(bad);
      const calls = Array.from({ length: 5 }, () => expectUsable(testPool));
      await expect(failing).rejects.toThrow(
        "E402 the operator exit_on_load ended its thread twice while it was loaded",
      );
      await Promise.all(calls);
      const unused = await testPool.pool.open(bad);
      await expectUsable(testPool);
      await unused.close();
      await expect(testPool.runOnce(bad)).rejects.toThrow("E402");
      await expectUsable(testPool);
    });
  });
});

test("a part that ends its thread fails its call, and no other, on however many threads it runs", async () => {
  await withPool({ threads: 12 }, async (testPool) => {
    const drawn = { a: { operator: "exit", reads: ["x"], partCount: 12, isOutput: true } };
    const failing = testPool.runOnce(dataOf(smallPlan(drawn, 2, 12)));
    await expect(failing).rejects.toThrow("E402 the operator exit ended its thread twice in a row");
    await expectUsable(testPool);
  });
});

test.each([
  1, 2, 3,
])("a part that is marked and was not reported does not run again: %i parts", async (partCount) => {
  const plan = smallPlan(
    {
      a: { operator: "mark_and_exit", reads: ["x"], partCount },
      b: { operator: "add_one", reads: ["a"], partCount, isOutput: true },
    },
    1,
    3,
  );
  await withPool({ threads: 2 }, async ({ runOnce, folder }) => {
    const [b] = await runOnce(dataOf(plan));
    expect(bitsOf(b!)).toEqual(bitsOf(waves(3, 1).map((value) => value + 1 + 1)));
    expect(readFileSync(join(folder, "computed"), "utf8")).toHaveLength(3);
  });
});
