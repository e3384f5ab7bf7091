import type { CallTask } from "../dag/dag.ts";
import { STATISTIC_LANES_MAX } from "../limits.ts";
import { readsWholeRows } from "../operator/definition.ts";
import type { RowBuilder } from "../operator/lowering.ts";
import type { PlanNode } from "./plan.ts";
import { PART_NS_MIN, type SplitLimits } from "./split_nodes.ts";
import { criticalPathWeights } from "./weights.ts";

/** Share of a row's work that every part repeats, since it reads the whole row. Measured on two quiet cores 0.3 to 0.6. */
const REPEATED_SHARE = 1 / 2;

/** Time until all parts have begun and know each other's results. */
const MEETING_NS = 40_000;

/** Rows that parts over lanes do not make shorter by this factor are not worth their work. */
const GAIN_MIN = 1.2;

/**
 * Rows are split if the longest path through their node takes this many times an executor's share of the work: else
 * others have work while one computes the row, and splitting it only adds to that work.
 */
const PATH_PER_SHARE_MIN = 4 / 3;

/** What the choice reads of a node. */
export type RowsToSplit = Pick<PlanNode, "costNs" | "inputs"> & { readonly isSplittable: boolean };

/** True if there is code for parts of a row of the task. */
export function hasRowParts({ operator, settings, group }: CallTask, laneCount: number): boolean {
  if (!readsWholeRows(operator) || !operator.lower) return false;
  const ofRow = () => group === null && laneCount <= STATISTIC_LANES_MAX;
  const never = () => false;
  const builder: RowBuilder = {
    relativeRanks: () => true,
    count: never,
    sum: never,
    mean: never,
    standardDeviation: ofRow,
    largest: never,
    smallest: never,
    shares: never,
    rangeShares: never,
    deviations: never,
    standardScores: ofRow,
    withinDeviations: ofRow,
    withinMedianDistances: never,
  };
  return operator.lower(builder, settings);
}

/**
 * Chooses the nodes whose rows are split over lanes: where a block is one row, those on paths so long that executors
 * would else be idle.
 *
 * @param nodes in topological order
 * @param partCounts how they are split otherwise
 */
export function chooseSplitRows(
  nodes: readonly RowsToSplit[],
  partCounts: readonly number[],
  { blockRows, executorCount }: SplitLimits,
): boolean[] {
  const partsNs = nodes.map(({ costNs }, id) => costNs / partCounts[id]!);
  const inputs = nodes.map((node) => node.inputs);
  const toEndNs = criticalPathWeights(partsNs, inputs);
  const beforeNs: number[] = [];
  for (const read of inputs)
    beforeNs.push(read.reduce((most, id) => Math.max(most, beforeNs[id]! + partsNs[id]!), 0));
  const shareNs = nodes.reduce((sum, { costNs }) => sum + costNs, 0) / executorCount;
  return nodes.map(({ costNs, isSplittable }, id) => {
    const isOnLongPath = beforeNs[id]! + toEndNs[id]! >= PATH_PER_SHARE_MIN * shareNs;
    const isWorthIt = costNs >= GAIN_MIN * splitNs(costNs, executorCount);
    return isSplittable && blockRows === 1 && isOnLongPath && isWorthIt;
  });
}

/** Time of a row in parts over lanes. */
function splitNs(costNs: number, executorCount: number): number {
  const parts = Math.min(executorCount, Math.ceil(costNs / PART_NS_MIN));
  return (REPEATED_SHARE + (1 - REPEATED_SHARE) / parts) * costNs + MEETING_NS;
}
