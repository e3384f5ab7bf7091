import { availableParallelism } from "node:os";
import { THREADS_MAX } from "../limits.ts";

/** With more cores, one is left to the scheduler's thread and the main thread. */
const SHARED_CORES_MAX = 3;

/**
 * Executor threads where nobody gives their number: one per available core, less one where there are more than three, and
 * no more than an engine may have. On 16 cores rows of a session took 31 % less time on 15 threads than on 16.
 */
export function threadsOfMachine(cores = availableParallelism()): number {
  return Math.min(cores > SHARED_CORES_MAX ? cores - 1 : cores, THREADS_MAX);
}

/** Threads that are started of those asked for: more than cores would only take them from each other. */
export function threadsStarted(asked: number, cores = availableParallelism()): number {
  return Math.min(asked, cores);
}
