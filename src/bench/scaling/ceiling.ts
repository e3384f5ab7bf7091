import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { CeilingLoop } from "./ceiling_loop.ts";

/** How many times the work of one thread a machine does, with threads that never wait for each other. */
export interface Ceiling {
  /** Over 16 KiB a thread, which the first cache of a core holds. */
  readonly inCache: number;
  /** Over 64 MiB a thread, which come from memory. */
  readonly fromMemory: number;
}

const SIZES = { inCache: 2048, fromMemory: 2 ** 23 } as const;
const MEASURED_MS = 400;

/**
 * The machine's own limit of a speed-up: no schedule makes programs faster than loops that share nothing. Two virtual
 * cores may be one core, and all cores share the memory.
 */
export async function measureCeiling(threads: number): Promise<Ceiling> {
  const [inCache, fromMemory] = [
    await speedup(threads, SIZES.inCache),
    await speedup(threads, SIZES.fromMemory),
  ];
  return { inCache, fromMemory };
}

async function speedup(threads: number, count: number): Promise<number> {
  const [alone = Number.NaN] = await roundNs(1, count);
  const together = await roundNs(threads, count);
  return together.reduce((sum, ns) => sum + alone / ns, 0);
}

/** ns of a round in each of these threads at the same time. */
async function roundNs(threads: number, count: number): Promise<number[]> {
  const go = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const url = new URL(`./ceiling_loop${import.meta.url.slice(-3)}`, import.meta.url);
  const workerData: CeilingLoop = { count, go };
  const workers = Array.from({ length: threads }, () => new Worker(url, { workerData }));
  await Promise.all(workers.map((worker) => once(worker, "message")));
  const answers = workers.map(async (worker) => ((await once(worker, "message")) as [number])[0]);
  Atomics.store(go, 0, 1);
  Atomics.notify(go, 0);
  await wait(MEASURED_MS);
  Atomics.store(go, 0, 2);
  const ns = await Promise.all(answers);
  await Promise.all(workers.map((worker) => worker.terminate()));
  return ns;
}
