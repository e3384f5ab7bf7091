import { HAS_ROW } from "../dag/row_members.ts";
import type { PanelBlock } from "../data/panel/panel_source.ts";
import { OVERLAPPING_BLOCKS_MAX } from "../execution/executor_pool.ts";
import type { GroupColumn } from "../panel.ts";
import type { PlanBuffers } from "./evaluation.ts";
import { fillHasRow } from "./has_row.ts";
import type { PreparedCall } from "./prepared_call.ts";
import { sharedCodes, sharedColumn } from "./shared_columns.ts";
import type { ColumnsRead } from "./wanted_factors.ts";

/** The part of an input block that is kept until its results have been read. */
export interface StagedBlock {
  /** First row of the block in the panel. */
  readonly firstRow: number;
  readonly rowCount: number;
  /** First row of the block in the input and result columns. */
  readonly stagedRow: number;
  readonly times: BigInt64Array;
  readonly present: Uint8Array;
}

/**
 * Input columns with space for a few blocks: while executors work on some, the next one is read. The columns do not
 * move, so that a block needs no message to executors.
 */
export class StagedInput {
  /** Rows of the largest block. */
  readonly blockRows: number;
  readonly #laneCount: number;
  readonly #call: PreparedCall;
  readonly #fields: ReadonlyMap<string, Float64Array<SharedArrayBuffer>>;
  readonly #groups: ReadonlyMap<string, GroupColumn>;
  readonly #values: PlanBuffers["params"];
  readonly #times: BigInt64Array;
  readonly #present: Uint8Array;
  #blockCount = 0;
  #nextRow = 0;

  /** Bytes that it allocates. */
  static bytesOf(read: ColumnsRead, blockRows: number, laneCount: number): number {
    const cellBytes = 8 * read.fields.length + 4 * read.groups.length + 1;
    return OVERLAPPING_BLOCKS_MAX * blockRows * (laneCount * cellBytes + 8 * (read.params.length + 1));
  }

  constructor(call: PreparedCall, blockRows: number, laneCount: number) {
    const { read, params } = call;
    const rowCount = OVERLAPPING_BLOCKS_MAX * blockRows;
    this.blockRows = blockRows;
    this.#laneCount = laneCount;
    this.#call = call;
    this.#fields = new Map(read.fields.map((name) => [name, sharedColumn(rowCount * laneCount)]));
    this.#groups = new Map(read.groups.map((name) => [name, stagedGroup(name, rowCount * laneCount)]));
    const values = read.params.map((name) => {
      return [name, params.changeOverTime ? sharedColumn(rowCount) : params.numeric(name)] as const;
    });
    this.#values = Object.fromEntries(values);
    this.#times = new BigInt64Array(rowCount);
    this.#present = new Uint8Array(rowCount * laneCount);
  }

  get buffers(): Omit<PlanBuffers, "results"> {
    return { fields: this.#fields, groups: this.#groups, params: this.#values };
  }

  /** The next block is that of this panel row. */
  startAt(row: number): void {
    this.#nextRow = row;
  }

  /** Copies a block over the one that came `OVERLAPPING_BLOCKS_MAX` before it. */
  stage(block: PanelBlock): StagedBlock {
    const { rowCount } = block;
    const firstRow = this.#nextRow;
    const stagedRow = (this.#blockCount % OVERLAPPING_BLOCKS_MAX) * this.blockRows;
    this.#blockCount++;
    this.#nextRow += rowCount;
    const [cell, cellCount] = [stagedRow * this.#laneCount, rowCount * this.#laneCount];
    for (const [name, column] of this.#fields) {
      if (name === HAS_ROW) fillHasRow(column.subarray(cell, cell + cellCount), block.present);
      else column.set(block.fields.get(name)!.subarray(0, cellCount), cell);
    }
    for (const [name, { codes }] of this.#groups) {
      copyCodes(block.groups.get(name)!, codes.subarray(cell, cell + cellCount), this.#laneCount);
    }
    const times = this.#times.subarray(stagedRow, stagedRow + rowCount);
    times.set(block.times.subarray(0, rowCount));
    this.#stageParams(times, stagedRow);
    const present = this.#present.subarray(cell, cell + cellCount);
    present.set(block.present.subarray(0, cellCount));
    return { firstRow, rowCount, stagedRow, times, present };
  }

  #stageParams(times: BigInt64Array, stagedRow: number): void {
    const { params } = this.#call;
    const setsOfBlock = params.setsAt(times);
    for (const [name, values] of Object.entries(this.#values)) {
      if (typeof values !== "number") params.fillNumeric(name, setsOfBlock, values.subarray(stagedRow));
    }
  }
}

/** Operators distinguish groups by their codes: the labels stay with the source. */
function stagedGroup(name: string, cellCount: number): GroupColumn {
  return { name, labels: [], codes: sharedCodes(cellCount), changesOverTime: true };
}

function copyCodes({ codes, changesOverTime }: GroupColumn, target: Int32Array, laneCount: number): void {
  if (changesOverTime) target.set(codes.subarray(0, target.length));
  else for (let cell = 0; cell < target.length; cell += laneCount) target.set(codes, cell);
}
