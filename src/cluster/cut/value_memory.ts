/** How much memory values may take where tasks pass them to each other through Dask's workers. */

export interface WorkerMemory {
  readonly threads: number;
  /** 0 for no limit. */
  readonly memoryLimitBytes: number;
}

export interface ValueBytes {
  /** Tiles of one slab, all stages and workers together. */
  readonly slabBytesMax: number;
  /** Input and output of a task. */
  readonly taskBytesMax: number;
}

/** Two or three slabs are under way at a time, and a worker spills from 60 % of its limit on. */
const SLAB_SHARE = 0.25;
/**
 * Share of the memory of a thread. Small, because an empty worker takes 90 MB, inputs return from disk while their task
 * waits, a merge holds tiles of several tasks, and moves between workers copy. Measured with workers of 240 MB.
 */
const TASK_SHARE = 1 / 32;
/** Assumed memory of a worker without a limit. */
const LIMIT_DEFAULT = 2 ** 32;

/** The limits for these workers; without workers, for one that has no limit. */
export function valueBytes(workers: readonly WorkerMemory[]): ValueBytes {
  const limits = workers.map(({ memoryLimitBytes }) => memoryLimitBytes || LIMIT_DEFAULT);
  const sum = limits.reduce((total, limit) => total + limit, 0) || LIMIT_DEFAULT;
  const perThread = limits.map((limit, index) => limit / Math.max(1, workers[index]!.threads));
  return {
    slabBytesMax: SLAB_SHARE * sum,
    taskBytesMax: TASK_SHARE * perThread.reduce((least, bytes) => Math.min(least, bytes), LIMIT_DEFAULT),
  };
}
