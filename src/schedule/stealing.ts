import { compareCalls } from "./call_order.ts";
import type { ExecutorQueue } from "./executor_queue.ts";
import { order } from "./ready_order.ts";

/** ns from handing out a part to its beginning: writing a record and waking a thread. */
export const HAND_OVER_NS = 10_000;

/** From this many parts queued behind one executor on, moves that merely break even are made as well. */
const LONG_BACKLOG_PARTS = 8;

/** A part to take back, by its slot in its executor's queue. */
export interface Steal {
  readonly queue: ExecutorQueue;
  readonly slot: number;
}

/**
 * The part that an idle executor should take over, or null: of the parts queued behind another one that are worth a move,
 * one of the earliest call, from the executor with the longest queue in ns. Such parts are sorted into bins by powers of
 * two of the ratio of work to moving cost; the last part of the best bin is taken, since its owner would reach it last. A
 * part whose work does not exceed the moving cost stays, except that long backlogs give away parts that break even. Nothing
 * is moved that its owner would begin before the move is over.
 *
 * @param moveNs estimated ns that the part in a slot of a queue loses when it is moved
 */
export function findSteal(
  queues: readonly ExecutorQueue[],
  moveNs: (queue: ExecutorQueue, slot: number) => number,
): Steal | null {
  let found: Steal | null = null;
  let foundBin = 0;
  for (const queue of queues) {
    if (queue.runnableCount < 2) continue;
    const leastBin = queue.runnableCount >= LONG_BACKLOG_PARTS ? -1 : 0;
    for (let slot = 0, left = queue.partCount; left > 0; slot++) {
      if (!queue.runs[slot]) continue;
      left--;
      if (queue.isAsked[slot] || queue.isAhead[slot]) continue;
      const ns = queue.partNs[slot]!;
      const costNs = HAND_OVER_NS + moveNs(queue, slot);
      if (queue.runnableNs - ns < costNs) continue;
      const bin = Math.floor(Math.log2(ns / costNs));
      if (bin < leastBin || (found && !goesBefore({ queue, slot }, bin, found, foundBin))) continue;
      found = { queue, slot };
      foundBin = bin;
    }
  }
  return found;
}

function goesBefore(a: Steal, aBin: number, b: Steal, bBin: number): boolean {
  const [aRun, bRun] = [a.queue.runs[a.slot]!, b.queue.runs[b.slot]!];
  const first =
    compareCalls(aRun.order, bRun.order) ||
    order(b.queue.runnableNs, a.queue.runnableNs) ||
    bBin - aBin ||
    order(aRun.weightOf(a.queue.nodes[a.slot]!), bRun.weightOf(b.queue.nodes[b.slot]!));
  return first < 0;
}
