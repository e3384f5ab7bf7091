import { availableParallelism } from "node:os";
import { THREADS_MAX } from "../limits.ts";

/** One executor thread per available core, as far as an engine takes them. */
export function threadsOfMachine(): number {
  return Math.min(availableParallelism(), THREADS_MAX);
}
