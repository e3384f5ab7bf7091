import type { PlanNode } from "../../plan/plan.ts";

/** The rows `[rowStart, rowEnd)` of the run and the lanes `[laneStart, laneEnd)` of one part of a node. */
export interface PartRange {
  readonly rowStart: number;
  readonly rowEnd: number;
  readonly laneStart: number;
  readonly laneEnd: number;
}

/**
 * Lanes that run through all rows of a block before the next ones: their state, some hundred bytes a lane, stays in the
 * L2 cache. With an eighth of them the lane kernels of alpha101 take 8 to 15 % longer, since loops restart for every
 * row of a tile.
 */
export const TILE_LANES = 1024;

/** Parts are split between cache lines, so that no two parts write the same line. */
const LANES_PER_LINE = 8;

/**
 * The share of one of `partCount` parts. Parts are contiguous along the node's part axis, span the other one, and cover
 * every cell once; with more parts than rows or lines of lanes some are empty.
 */
export function partRange(
  node: PlanNode,
  part: number,
  firstRow: number,
  rowCount: number,
  laneCount: number,
): PartRange {
  if (node.partAxis === "rows") {
    const rowStart = firstRow + shareStart(rowCount, part, node.partCount);
    const rowEnd = firstRow + shareStart(rowCount, part + 1, node.partCount);
    return { rowStart, rowEnd, laneStart: 0, laneEnd: laneCount };
  }
  const lines = Math.ceil(laneCount / LANES_PER_LINE);
  const laneStart = Math.min(laneCount, LANES_PER_LINE * shareStart(lines, part, node.partCount));
  const laneEnd = Math.min(laneCount, LANES_PER_LINE * shareStart(lines, part + 1, node.partCount));
  return { rowStart: firstRow, rowEnd: firstRow + rowCount, laneStart, laneEnd };
}

/** Start of one of `partCount` shares of `length`. */
function shareStart(length: number, part: number, partCount: number): number {
  return Math.floor((part * length) / partCount);
}
