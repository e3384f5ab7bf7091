/** When an executor's queue has room for another part. */
export interface QueueLimits {
  /** It has room for parts of the earliest run while the parts in it take less than this together, in ns, ... */
  readonly queueNs: number;
  /** ... and for those of every run while it holds fewer parts than this, however long they are. */
  readonly partsMin: number;
  /** It has room for parts that wait for their inputs while all parts in it take at most this together, in ns. */
  readonly aheadNs: number;
}

/**
 * Many short parts, which saves wake-ups, and few long ones, which would block heavier nodes: the running part, and one
 * more, so that an executor does not idle until the scheduler learns that it is done. Of those that wait for inputs few:
 * they are bound to their executor until the scheduler learns that they may run.
 */
const QUEUE_LIMITS: QueueLimits = { queueNs: 3_000_000, partsMin: 2, aheadNs: 750_000 };

/** Limits that hold instead of these. */
export interface QueueOverrides {
  /** Work that a queue should hold, in ns; parts ahead of their inputs up to half of it. */
  readonly queueNs?: number | undefined;
  /** Least number of parts that a queue should hold, however long they are. */
  readonly queuePartsMin?: number | undefined;
}

export function queueLimits({ queueNs, queuePartsMin }: QueueOverrides): QueueLimits {
  return {
    queueNs: queueNs ?? QUEUE_LIMITS.queueNs,
    partsMin: queuePartsMin ?? QUEUE_LIMITS.partsMin,
    aheadNs: queueNs === undefined ? QUEUE_LIMITS.aheadNs : queueNs / 2,
  };
}
