import { machineMemoryBytes } from "../../limits.ts";

/** Set by workers for their executors: the worker's memory limit divided by its threads, 0 for none. */
const MEMORY_VARIABLE = "FACTORLOOM_WORKER_MEMORY";

/** The rest is for the worker's own process, which holds results until they are fetched. */
const SHARE = 0.6;
/** What Node takes before it does anything. */
const NODE_BYTES = 128 * 2 ** 20;
const BYTES_MIN = 64 * 2 ** 20;
/** Of an executor, for columns, state and results; DuckDB's reading has the rest. */
const ENGINE_SHARE = 0.75;

export interface ExecutorMemory {
  /** For columns, state and results of its evaluations. */
  readonly engineBytes: number;
  /** `PanelSourceOptions.memoryLimitBytes`. */
  readonly sourceLimitBytes: number;
}

/** The memory of an executor of a worker with this limit per thread. */
export function executorMemory(threadBytes: number): ExecutorMemory {
  const bytes = Math.max(BYTES_MIN, SHARE * threadBytes - NODE_BYTES);
  return { engineBytes: ENGINE_SHARE * bytes, sourceLimitBytes: bytes };
}

/** That of this process: of a worker without a limit, the machine's by cores. */
export function ownMemory(cores: number, environment: NodeJS.ProcessEnv = process.env): ExecutorMemory {
  return executorMemory(Number(environment[MEMORY_VARIABLE]) || machineMemoryBytes() / cores);
}
