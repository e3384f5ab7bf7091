import { setTimeout as wait } from "node:timers/promises";
import { processes } from "../../../src/cluster/process_group.ts";

/** Looks every few ms until something holds; milliseconds that it took. */
export async function until(holds: () => boolean | Promise<boolean>, msMax: number): Promise<number> {
  const start = performance.now();
  while (!(await holds())) {
    if (performance.now() - start > msMax) throw new Error(`not within ${msMax} ms`);
    await wait(10);
  }
  return performance.now() - start;
}

/** Milliseconds until none of the processes runs any more. */
export async function untilGone(pids: readonly number[], msMax: number): Promise<number> {
  return await until(async () => {
    const running = new Set((await processes()).filter((each) => each.isRunning).map(({ pid }) => pid));
    return pids.every((pid) => !running.has(pid));
  }, msMax);
}
