import type { PlanNode } from "./plan.ts";

/** A part of a node should last at least about this long: much longer than handing it out, short against a call. */
const PART_NS_MIN = 60_000;

/**
 * Where the nodes as they are keep all executors busy, a node is cut only above so small a share of an executor's work:
 * each part runs the whole code of its node and so brings it into one more core's caches. Two threads run a live row of
 * alpha101 5 to 10 % faster than with parts of 60 us, and history 3 to 5 %.
 */
const EXECUTOR_SHARE_MAX = 1 / 8;

/** The nodes keep all executors busy if the longest path takes at most this share of an executor's work. */
const PATH_SHARE_MAX = 1 / 2;

/** How many lanes and rows there are to cut between, and who would run the parts. */
export interface SplitLimits {
  readonly laneCount: number;
  readonly blockRows: number;
  readonly executorCount: number;
}

/** What all nodes of a plan cost together, and those of the longest path. */
export interface PlanCosts {
  readonly totalNs: number;
  readonly pathNs: number;
}

/**
 * split_nodes: one node of 300 us -> 5 parts of 60 us that run in parallel (breakdown).
 *
 * Algorithm: a node is cut along its axis into as many parts as its cost holds targets (`partTargetNs`), but never into
 * more than there are executors, lanes or rows. A row node has no state and is cut over rows; every other over lanes.
 * Hazards: parts must write different cache lines, and each its own share of every column: `partRange` of the kernels
 * cuts between whole lines. State is kept for each lane, so the cut must stay while the plan is open.
 * Misses: a live block of one row cannot be cut over rows; costs are estimates of the whole node, not of its parts; work
 * is not cut within a row.
 */
export function partCountOf(
  { costNs, partAxis }: Pick<PlanNode, "costNs" | "partAxis">,
  { laneCount, blockRows, executorCount }: SplitLimits,
  targetNs: number,
): number {
  const most = Math.min(executorCount, partAxis === "lanes" ? laneCount : blockRows);
  return Math.max(1, Math.min(most, Math.ceil(costNs / targetNs)));
}

/** How long a part should last at least: longer where nothing is gained by cutting finer. */
export function partTargetNs({ totalNs, pathNs }: PlanCosts, { executorCount }: SplitLimits): number {
  const shareNs = totalNs / executorCount;
  const isWide = pathNs <= PATH_SHARE_MAX * shareNs;
  return isWide ? Math.max(PART_NS_MIN, EXECUTOR_SHARE_MAX * shareNs) : PART_NS_MIN;
}
