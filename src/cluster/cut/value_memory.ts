/** How much Dask may be given to hold, where tasks hand values to each other through its workers. */

/** A worker, as far as its memory counts. */
export interface WorkerMemory {
  readonly threads: number;
  /** Bytes; 0 if it has none. */
  readonly memoryLimitBytes: number;
}

export interface ValueBytes {
  /** What tiles of one slab may take, all stages and workers together. */
  readonly slabBytesMax: number;
  /** What a task may take and give. */
  readonly taskBytesMax: number;
}

/** Two or three slabs are under way at a time, and a worker spills from 60 % of its limit on. */
const SLAB_SHARE = 0.25;
/**
 * Of the share of a thread, small: a worker that holds nothing takes 90 MB, inputs come back from disk while their task waits, a
 * merge has the tiles of several tasks, and what moves between workers is copied. Measured with workers of 240 MB.
 */
const TASK_SHARE = 1 / 32;
/** Of a worker without a limit. */
const LIMIT_DEFAULT = 2 ** 32;

/** The shares of the workers that are there; of one without a limit if there is none. */
export function valueBytes(workers: readonly WorkerMemory[]): ValueBytes {
  const limits = workers.map(({ memoryLimitBytes }) => memoryLimitBytes || LIMIT_DEFAULT);
  const sum = limits.reduce((total, limit) => total + limit, 0) || LIMIT_DEFAULT;
  const perThread = limits.map((limit, index) => limit / Math.max(1, workers[index]!.threads));
  return {
    slabBytesMax: SLAB_SHARE * sum,
    taskBytesMax: TASK_SHARE * perThread.reduce((least, bytes) => Math.min(least, bytes), LIMIT_DEFAULT),
  };
}
