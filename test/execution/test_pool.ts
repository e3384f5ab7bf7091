import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ExecutorPool, type PlanData, type PoolOptions } from "../../src/execution/executor_pool.ts";
import { blockAt } from "./small_plan.ts";

/** A pool over the fixture's runner, and a folder for marks between operators and the test. */
export interface TestPool {
  readonly pool: ExecutorPool;
  /** Where operators leave their marks. */
  readonly folder: string;
  /** Opens a plan, runs it over all rows of its data as one block, closes it, and returns the results. */
  runOnce(data: PlanData): Promise<readonly Float64Array[]>;
  /** Resolves once an operator has left that mark. */
  markSeen(mark: string): Promise<void>;
  leaveMark(mark: string): void;
}

/** Runs a test with a pool of its own, which is closed whatever happens. */
export async function withPool(
  options: PoolOptions,
  body: (testPool: TestPool) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "factorloom-test-"));
  const runnerUrl = new URL("./fixtures/runner.ts", import.meta.url);
  runnerUrl.searchParams.set("folder", folder);
  const pool = await ExecutorPool.start({ runnerUrl, ...options });
  try {
    await body({
      pool,
      folder,
      runOnce: async (data) => {
        const open = await pool.open(data);
        try {
          await open.run(blockAt(0, data.plan.blockRows));
        } finally {
          void open.close();
        }
        return data.results.map((result) => result!);
      },
      markSeen: async (mark) => {
        while (!existsSync(join(folder, mark))) await delay(2);
      },
      leaveMark: (mark) => writeFileSync(join(folder, mark), ""),
    });
  } finally {
    writeFileSync(join(folder, "go"), "");
    await pool.close();
    rmSync(folder, { recursive: true });
  }
}
