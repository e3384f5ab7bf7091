import { availableParallelism } from "node:os";
import { THREADS_MAX } from "../limits.ts";

/** One executor thread per available core, up to the limit of an engine. */
export function threadsOfMachine(): number {
  return Math.min(availableParallelism(), THREADS_MAX);
}
