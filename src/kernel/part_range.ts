import type { PlanNode } from "../plan/plan.ts";

/** Rows of the run. */
export interface RowSpan {
  readonly firstRow: number;
  readonly rowCount: number;
}

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
export function partRange(node: PlanNode, part: number, rows: RowSpan, laneCount: number): PartRange {
  const { firstRow, rowCount } = rows;
  if (node.partAxis === "rows") {
    const cut = (index: number) => firstRow + Math.floor((index * rowCount) / node.partCount);
    return { rowStart: cut(part), rowEnd: cut(part + 1), laneStart: 0, laneEnd: laneCount };
  }
  const lines = Math.ceil(laneCount / LANES_PER_LINE);
  const cut = (index: number) =>
    Math.min(laneCount, LANES_PER_LINE * Math.floor((index * lines) / node.partCount));
  return { rowStart: firstRow, rowEnd: firstRow + rowCount, laneStart: cut(part), laneEnd: cut(part + 1) };
}
