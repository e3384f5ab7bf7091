import type { PlanNode } from "./plan.ts";

/** A part of a node should last about this long: much longer than handing it out, short against a call. */
const PART_TARGET_NS = 60_000;

/** How many lanes and rows there are to cut between, and who would run the parts. */
export interface Cuts {
  readonly laneCount: number;
  readonly blockRows: number;
  readonly executorCount: number;
}

/**
 * split_nodes: one node of 300 us -> 5 parts of 60 us that run in parallel (breakdown).
 *
 * Algorithm: a node is cut along its axis into as many parts as its cost holds targets, but never into more than there
 * are executors, lanes or rows. A row node has no state and is cut over rows; every other over lanes.
 * Hazards: parts must write different cache lines, and each its own share of every column: `partRange` of the kernels
 * cuts between whole lines. State is kept for each lane, so the cut must stay while the plan is open.
 * Misses: a live block of one row cannot be cut over rows; costs are estimates of the whole node, not of its parts; work
 * is not cut within a row.
 */
export function partCountOf(
  { costNs, partAxis }: Pick<PlanNode, "costNs" | "partAxis">,
  { laneCount, blockRows, executorCount }: Cuts,
): number {
  const most = Math.min(executorCount, partAxis === "lanes" ? laneCount : blockRows);
  return Math.max(1, Math.min(most, Math.ceil(costNs / PART_TARGET_NS)));
}
