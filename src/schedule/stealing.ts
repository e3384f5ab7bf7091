import type { ExecutorQueue } from "./executor_queue.ts";

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
 * The part that an idle executor should take over, or null. The victim is the executor with the longest queue in ns.
 * Its parts are sorted into bins by powers of two of the ratio of work to moving cost; the last part of the best bin is
 * taken, since its owner would reach it last. A part whose work does not exceed the moving cost stays, except that long
 * backlogs give away parts that break even. Nothing is moved that its owner would begin before the move is over.
 *
 * @param moveNs estimated ns that the part in a slot of a queue loses when it is moved
 */
export function findSteal(
  queues: readonly ExecutorQueue[],
  moveNs: (queue: ExecutorQueue, slot: number) => number,
): Steal | null {
  const victim = richest(queues);
  if (!victim) return null;
  const leastBin = victim.runnableCount >= LONG_BACKLOG_PARTS ? -1 : 0;
  let found: Steal | null = null;
  let foundBin = leastBin - 1;
  let foundWeight = 0;
  for (let slot = 0; slot < victim.runs.length; slot++) {
    const run = victim.runs[slot];
    if (!run || victim.isAsked[slot] || victim.isAhead[slot]) continue;
    const ns = victim.partNs[slot]!;
    const costNs = HAND_OVER_NS + moveNs(victim, slot);
    if (victim.runnableNs - ns < costNs) continue;
    const bin = Math.floor(Math.log2(ns / costNs));
    const weight = run.weightOf(victim.nodes[slot]!);
    if (bin < leastBin || bin < foundBin || (bin === foundBin && weight >= foundWeight)) continue;
    found = { queue: victim, slot };
    foundBin = bin;
    foundWeight = weight;
  }
  return found;
}

/** The executor with the most queued work among those with more than the part they run. */
function richest(queues: readonly ExecutorQueue[]): ExecutorQueue | null {
  let found: ExecutorQueue | null = null;
  for (const queue of queues) {
    if (queue.runnableCount > 1 && (!found || queue.runnableNs > found.runnableNs)) found = queue;
  }
  return found;
}
