import type { Settings } from "../operator/definition.ts";
import type { GroupColumn } from "../panel.ts";
import type { Operand } from "../plan/plan.ts";
import type { CellRange } from "./part_range.ts";

/** A column `[rows x lanes]` in row-major order, NaN = null, or a number that holds for every cell. */
export type Values = Float64Array | number;

/** Where the parts of a call find their arguments and leave their results. */
export interface Columns {
  readonly rowCount: number;
  readonly laneCount: number;
  /** The values of an argument. */
  read(operand: Operand): Values;
  /** The group column of that name. */
  group(name: string): GroupColumn;
  /** The column `[rows x lanes]` that the node of that id writes. */
  result(node: number): Float64Array;
}

/** One part of a node with its arguments resolved; every axis has a driver that takes it. */
export interface PartJob {
  readonly laneCount: number;
  readonly range: CellRange;
  readonly settings: Settings;
  readonly minPeriods: number | null;
  readonly operands: readonly Values[];
  readonly group: GroupColumn | null;
  /** The node's whole column; only the cells of `range` are written. */
  readonly output: Float64Array;
}
