import { HAS_ROW } from "../dag/row_members.ts";
import { type PanelBlock, type PanelSource, panelOf } from "../data/panel/panel_source.ts";
import type { GroupColumn } from "../panel.ts";
import { type BlockInput, fillParams, PanelInput, type PlacedBlock, paramColumns } from "./block_input.ts";
import type { PlanBuffers } from "./evaluation.ts";
import { fillHasRow } from "./has_row.ts";
import type { PreparedCall } from "./prepared_call.ts";
import { sharedCodes, sharedColumn } from "./shared_columns.ts";
import type { ColumnsRead } from "./wanted_factors.ts";

/** Columns of the engine's own, into which blocks are copied: while executors work on some, the next one is read. */
export class StagedInput implements BlockInput {
  readonly #laneCount: number;
  readonly #call: PreparedCall;
  readonly #fields: ReadonlyMap<string, Float64Array<SharedArrayBuffer>>;
  readonly #groups: ReadonlyMap<string, GroupColumn>;
  readonly #params: PlanBuffers["params"];
  readonly #times: BigInt64Array;
  readonly #present: Uint8Array;

  /** Bytes that it allocates for columns of this number of rows. */
  static bytesOf(read: ColumnsRead, rowCount: number, laneCount: number): number {
    const cellBytes = 8 * read.fields.length + 4 * read.groups.length + 1;
    return rowCount * (laneCount * cellBytes + 8 * (read.params.length + 1));
  }

  constructor(call: PreparedCall, rowCount: number, laneCount: number) {
    const { read } = call;
    this.#laneCount = laneCount;
    this.#call = call;
    this.#fields = new Map(read.fields.map((name) => [name, sharedColumn(rowCount * laneCount)]));
    this.#groups = new Map(read.groups.map((name) => [name, stagedGroup(name, rowCount * laneCount)]));
    this.#params = paramColumns(call, rowCount);
    this.#times = new BigInt64Array(rowCount);
    this.#present = new Uint8Array(rowCount * laneCount);
  }

  get buffers(): Omit<PlanBuffers, "results"> {
    return { fields: this.#fields, groups: this.#groups, params: this.#params };
  }

  /** Copies the block to the row that its results have, over an earlier one whose results have been read. */
  place(block: PanelBlock, firstRow: number, row: number): PlacedBlock {
    const { rowCount } = block;
    const [cell, cellCount] = [row * this.#laneCount, rowCount * this.#laneCount];
    for (const [name, column] of this.#fields) {
      if (name === HAS_ROW) fillHasRow(column.subarray(cell, cell + cellCount), block.present);
      else column.set(block.fields.get(name)!.subarray(0, cellCount), cell);
    }
    for (const [name, { codes }] of this.#groups) {
      copyCodes(block.groups.get(name)!, codes.subarray(cell, cell + cellCount), this.#laneCount);
    }
    const times = this.#times.subarray(row, row + rowCount);
    times.set(block.times.subarray(0, rowCount));
    fillParams(this.#params, this.#call.params, times, row);
    for (const [name, column] of Object.entries(this.#params)) {
      const values = block.params?.get(name);
      if (values && typeof column !== "number") column.set(values.subarray(0, rowCount), row);
    }
    const present = this.#present.subarray(cell, cell + cellCount);
    present.set(block.present.subarray(0, cellCount));
    return { firstRow, rowCount, inputRow: row, outputRow: row, times, present };
  }
}

/** The input of a call with space for some blocks, and the bytes that it allocates. */
interface InputShare {
  readonly bytes: number;
  readonly open: () => BlockInput;
}

/** A panel's own columns, or staged ones: for the blocks of a source, and for rows that are run again. */
export function inputFor(
  source: PanelSource,
  call: PreparedCall,
  rowCount: number,
  keepsHistory: boolean,
): InputShare {
  const panel = keepsHistory ? null : panelOf(source);
  if (panel) return { bytes: PanelInput.bytesOf(panel, call), open: () => new PanelInput(panel, call) };
  const { laneCount } = source;
  return {
    bytes: StagedInput.bytesOf(call.read, rowCount, laneCount),
    open: () => new StagedInput(call, rowCount, laneCount),
  };
}

/** Operators distinguish groups by their codes: the labels stay with the source. */
function stagedGroup(name: string, cellCount: number): GroupColumn {
  return { name, labels: [], codes: sharedCodes(cellCount), changesOverTime: true };
}

function copyCodes({ codes, changesOverTime }: GroupColumn, target: Int32Array, laneCount: number): void {
  if (changesOverTime) target.set(codes.subarray(0, target.length));
  else for (let cell = 0; cell < target.length; cell += laneCount) target.set(codes, cell);
}
