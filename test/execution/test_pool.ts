import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ExecutorPool, type PoolOptions } from "../../src/execution/executor_pool.ts";

/** A pool over the fixture operators, and a folder in which those and the test leave each other marks. */
export interface TestPool {
  readonly pool: ExecutorPool;
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
  const operatorsUrl = new URL("./fixtures/operators.ts", import.meta.url);
  operatorsUrl.searchParams.set("folder", folder);
  const pool = await ExecutorPool.start({ operatorsUrl, ...options });
  try {
    await body({
      pool,
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
