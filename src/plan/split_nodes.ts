import type { PlanNode } from "./plan.ts";

/** Least duration of a part: much longer than handing it out, short against a call. */
const PART_NS_MIN = 60_000;

/**
 * Where whole nodes keep all executors busy, parts last at least this share of an executor's work: each part loads the
 * whole code of its node into one more core's caches. With it two threads run a live row of alpha101 5 to 10 % faster
 * than with parts of 60 us, and history 3 to 5 %.
 */
const EXECUTOR_SHARE_MAX = 1 / 8;

/** Whole nodes keep all executors busy if the longest path takes at most this share of an executor's work. */
const PATH_SHARE_MAX = 1 / 2;

/** Upper limits of the number of parts. */
export interface SplitLimits {
  readonly laneCount: number;
  readonly blockRows: number;
  readonly executorCount: number;
}

/** Cost of all nodes of a plan, and of those on the longest path. */
export interface PlanCosts {
  readonly totalNs: number;
  readonly pathNs: number;
}

/**
 * split_nodes: one node of 300 us -> 5 parts of 60 us that run in parallel (breakdown).
 *
 * Algorithm: a node is split along its axis into as many parts as its cost holds targets (`partTargetNs`), but never
 * into more than there are executors, lanes or rows. A row node has no state and is split over rows; every other over
 * lanes.
 * Hazards: parts must write different cache lines, and each its own share of every column: `partRange` of the kernels
 * splits between whole lines. State is kept per lane, so the split must not change while the plan is open.
 * Misses: a live block of one row cannot be split over rows; costs are estimates of the whole node, not of its parts;
 * work is not split within a row.
 */
export function partCountOf(
  { costNs, partAxis }: Pick<PlanNode, "costNs" | "partAxis">,
  { laneCount, blockRows, executorCount }: SplitLimits,
  targetNs: number,
): number {
  const most = Math.min(executorCount, partAxis === "lanes" ? laneCount : blockRows);
  return Math.max(1, Math.min(most, Math.ceil(costNs / targetNs)));
}

/** Least duration of a part: longer where finer parts gain nothing. */
export function partTargetNs({ totalNs, pathNs }: PlanCosts, { executorCount }: SplitLimits): number {
  const shareNs = totalNs / executorCount;
  const isWide = pathNs <= PATH_SHARE_MAX * shareNs;
  return isWide ? Math.max(PART_NS_MIN, EXECUTOR_SHARE_MAX * shareNs) : PART_NS_MIN;
}
