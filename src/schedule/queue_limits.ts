/** When an executor's queue has room for another part. */
export interface QueueLimits {
  /** It has room for parts of the earliest run while the parts in it take less than this together, in ns, ... */
  readonly queueNs: number;
  /** ... and for those of every run while it holds fewer parts than this, however long they are. */
  readonly partsMin: number;
  /** It has room for parts that wait for their inputs while all parts in it take at most this together, in ns. */
  readonly aheadNs: number;
}

const AHEAD_NS = 1_500_000;

/**
 * Many short parts, which saves wake-ups, and few long ones, which would block heavier nodes: the running part, and one
 * more, so that an executor does not idle until the scheduler learns that it is done.
 */
export const LONG_QUEUES: QueueLimits = {
  queueNs: 3_000_000,
  partsMin: 2,
  aheadNs: AHEAD_NS,
};

/** A part is given away when an executor is about to need one: the scheduler then knows best who is free. */
const SHORT_QUEUES: QueueLimits = { queueNs: 20_000, partsMin: 1, aheadNs: AHEAD_NS };

/** With fewer executors the scheduler has no core of its own, and waking threads costs more than a better choice gains. */
const SHORT_EXECUTORS_MIN = 16;

/** Longer blocks give every executor work in abundance, of which a queue should hold some. */
const SHORT_SHARE_NS_MAX = 1_200_000;

/**
 * The queues for a plan while one run of it is all there is to do: short for single rows that keep many executors busy
 * for a short while. In simulated rows of the published sets they save 3 % with 16 and 32 executors, at most 20 %; they
 * change nothing where the longest path decides, and cost up to 40 % in history and where executors have more work.
 */
export function queueLimits(plan: QueuedPlan, executorCount: number): QueueLimits {
  const shareNs = plan.nodes.reduce((sum, { costNs }) => sum + costNs, 0) / executorCount;
  const isShort =
    plan.blockRows === 1 && executorCount >= SHORT_EXECUTORS_MIN && shareNs <= SHORT_SHARE_NS_MAX;
  return isShort ? SHORT_QUEUES : LONG_QUEUES;
}

/** What the choice depends on. */
export interface QueuedPlan {
  /** Rows of the largest block. */
  readonly blockRows: number;
  readonly nodes: readonly { readonly costNs: number }[];
}

/** Limits that hold instead of those of the plans. */
export interface QueueOverrides {
  /** Work that a queue should hold, in ns; half of it ahead of its inputs. */
  readonly queueNs?: number | undefined;
  /** Least number of parts that a queue should hold, however long they are. */
  readonly queuePartsMin?: number | undefined;
}

export function overridden(limits: QueueLimits, { queueNs, queuePartsMin }: QueueOverrides): QueueLimits {
  return {
    queueNs: queueNs ?? limits.queueNs,
    partsMin: queuePartsMin ?? limits.partsMin,
    aheadNs: queueNs === undefined ? limits.aheadNs : queueNs / 2,
  };
}
