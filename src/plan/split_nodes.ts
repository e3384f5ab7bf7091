import type { PlanNode } from "./plan.ts";
import { criticalPathWeights } from "./weights.ts";

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

/**
 * Time of the scheduler's thread to hand a part out and to take its end, where the costs do not say: measured with 16
 * executors on as many virtual cores, where lines of cache go from core to core.
 */
const HAND_OUT_NS = 1700;

/** Share of a block's time in which the scheduler may hand out parts; the rest is for parts that take it longer. */
const HAND_OUT_SHARE_MAX = 3 / 4;

/** Parts become longer in steps of this factor until they are few enough. */
const LONGER_PARTS = 1.02;

/** Upper limits of the number of parts. */
export interface SplitLimits {
  readonly laneCount: number;
  readonly blockRows: number;
  readonly executorCount: number;
  /** ns of the scheduler's thread for a part; default 1,700. */
  readonly handOutNs?: number | undefined;
}

/** What the split reads of a node. */
export type NodeToSplit = Pick<PlanNode, "costNs" | "partAxis" | "inputs">;

/**
 * split_nodes: one node of 300 us -> 5 parts of 60 us that run in parallel (breakdown).
 *
 * Algorithm: a node is split along its axis into as many parts as its cost holds targets (`partTargetNs`), but never
 * into more than there are executors, lanes or rows. A row node has no state and is split over rows; every other over
 * lanes. If these are more parts than the scheduler can hand out while the executors run them, parts become longer, in
 * proportion to the square root of their node's cost: of all ways to cut a chain into as many parts this one has the
 * shortest path. With up to 26 executors they never are, at 1.7 us a part: those run 0.44 parts of 60 us in a
 * microsecond. Simulated history of 64 and 200 executors takes 0.42 to 0.73 times as long as with parts for 0.5 us a
 * hand-out, one case in eight as long.
 * Hazards: parts must write different cache lines, and each its own share of every column: `partRange` of the kernels
 * splits between whole lines. State is kept per lane, so the split must not change while the plan is open.
 * Misses: a live block of one row cannot be split over rows, and work is not split within a row; costs are estimates of
 * the whole node, not of its parts.
 *
 * @param nodes in topological order
 * @returns the number of parts of each node
 */
export function splitNodes(nodes: readonly NodeToSplit[], limits: SplitLimits): number[] {
  const totalNs = nodes.reduce((sum, { costNs }) => sum + costNs, 0);
  const shareNs = totalNs / limits.executorCount;
  const targetNs = partTargetNs(shareNs, pathNs(nodes));
  const longestNs = nodes.reduce((longest, { costNs }) => Math.max(longest, costNs), 0);
  let counts = nodes.map((node) => partCountOf(node, limits, targetNs));
  for (
    let stretch = targetNs / Math.sqrt(longestNs);
    sumOf(counts) > partsMax(nodes, counts, shareNs, limits);
    stretch *= LONGER_PARTS
  )
    counts = nodes.map((node) => {
      return partCountOf(node, limits, Math.max(targetNs, stretch * Math.sqrt(node.costNs)));
    });
  return counts;
}

/** As many parts as can be handed out while parts of this size run: longer ones make the path longer as well. */
function partsMax(
  nodes: readonly NodeToSplit[],
  counts: readonly number[],
  shareNs: number,
  { handOutNs = HAND_OUT_NS }: SplitLimits,
): number {
  const makespanNs = Math.max(shareNs, pathNs(nodes, counts));
  return nodes.length + (HAND_OUT_SHARE_MAX * makespanNs) / handOutNs;
}

function partCountOf(
  { costNs, partAxis }: NodeToSplit,
  { laneCount, blockRows, executorCount }: SplitLimits,
  targetNs: number,
): number {
  const most = Math.min(executorCount, partAxis === "lanes" ? laneCount : blockRows);
  return Math.max(1, Math.min(most, Math.ceil(costNs / targetNs)));
}

/** Least duration of a part: longer where finer parts gain nothing. */
function partTargetNs(shareNs: number, uncutPathNs: number): number {
  const isWide = uncutPathNs <= PATH_SHARE_MAX * shareNs;
  return isWide ? Math.max(PART_NS_MIN, EXECUTOR_SHARE_MAX * shareNs) : PART_NS_MIN;
}

/** Cost of the longest path, of nodes with these part counts. */
function pathNs(nodes: readonly NodeToSplit[], partCounts?: readonly number[]): number {
  const costsNs = nodes.map(({ costNs }, id) => costNs / (partCounts?.[id] ?? 1));
  return criticalPathWeights(costsNs, nodes).reduce((most, ns) => Math.max(most, ns), 0);
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
