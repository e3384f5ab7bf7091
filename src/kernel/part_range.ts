import type { PlanNode } from "../plan/plan.ts";

/** The rows `[rowStart, rowEnd)` of the run and the lanes `[laneStart, laneEnd)` that one part of a node works on. */
export interface PartRange {
  readonly rowStart: number;
  readonly rowEnd: number;
  readonly laneStart: number;
  readonly laneEnd: number;
}

/** Lanes are cut between cache lines: no two parts write one line. */
const LANES_PER_LINE = 8;

/**
 * The share of one part of so many rows. Parts are contiguous along the node's part axis, span the other one, and cover every cell
 * once; with more parts than rows or lines of lanes some are empty.
 */
export function partRange(
  node: PlanNode,
  part: number,
  firstRow: number,
  rowCount: number,
  laneCount: number,
): PartRange {
  if (node.partAxis === "rows") {
    const rowStart = firstRow + cut(rowCount, part, node.partCount);
    const rowEnd = firstRow + cut(rowCount, part + 1, node.partCount);
    return { rowStart, rowEnd, laneStart: 0, laneEnd: laneCount };
  }
  const lines = Math.ceil(laneCount / LANES_PER_LINE);
  const laneStart = Math.min(laneCount, LANES_PER_LINE * cut(lines, part, node.partCount));
  const laneEnd = Math.min(laneCount, LANES_PER_LINE * cut(lines, part + 1, node.partCount));
  return { rowStart: firstRow, rowEnd: firstRow + rowCount, laneStart, laneEnd };
}

/** Where a part begins of so many in which `length` is cut. */
function cut(length: number, part: number, partCount: number): number {
  return Math.floor((part * length) / partCount);
}
