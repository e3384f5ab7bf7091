import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

/** Far above what anything takes on a busy machine, and below the time of a test, which could not say what it waited for. */
export const PATIENCE_SECONDS = 240;

/** Looks every few ms until something holds; milliseconds that it took. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<number> {
  const start = performance.now();
  while (!(await holds())) {
    if (performance.now() - start > 1000 * PATIENCE_SECONDS)
      throw new Error(`not within ${PATIENCE_SECONDS} s: ${holds}`);
    await wait(20);
  }
  return performance.now() - start;
}

/** Milliseconds until none of the processes runs any more. */
export async function untilGone(pids: readonly number[]): Promise<number> {
  return await until(() => !pids.some(isRunning));
}

/** False also for a process that has ended and that its parent has not asked for. */
export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}
