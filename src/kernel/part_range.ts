import { InternalError } from "../errors.ts";
import type { PlanNode } from "../plan/plan.ts";

/** The cells `[rowStart, rowEnd) x [laneStart, laneEnd)` that one part of a node writes. */
export interface CellRange {
  readonly rowStart: number;
  readonly rowEnd: number;
  readonly laneStart: number;
  readonly laneEnd: number;
}

/**
 * The cells of one part of a node over a panel `[rows x lanes]`.
 *
 * Parts are contiguous along the node's part axis, span the other one, cover every cell once, and differ in size
 * by at most one row or lane; with more parts than rows or lanes some are empty.
 *
 * @throws InternalError if the node has no such part.
 */
export function partRange(node: PlanNode, part: number, rowCount: number, laneCount: number): CellRange {
  const { partAxis, partCount } = node;
  if (!(part >= 0 && part < partCount)) {
    throw new InternalError(`node ${node.id} has ${partCount} parts, asked for part ${part}`);
  }
  const cut = (index: number, count: number) => Math.floor((index * count) / partCount);
  const byRows = partAxis === "rows";
  return {
    rowStart: byRows ? cut(part, rowCount) : 0,
    rowEnd: byRows ? cut(part + 1, rowCount) : rowCount,
    laneStart: byRows ? 0 : cut(part, laneCount),
    laneEnd: byRows ? laneCount : cut(part + 1, laneCount),
  };
}
