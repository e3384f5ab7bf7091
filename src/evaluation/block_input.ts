import type { CallParams } from "../call_params.ts";
import type { LaneRow } from "../checkpoint/lane_rows.ts";
import { HAS_ROW } from "../dag/row_members.ts";
import { type PanelBlock, type PanelSource, panelOf } from "../data/panel/panel_source.ts";
import type { Panel } from "../panel.ts";
import type { ColumnRow, RetainedRow } from "../state/retained_rows.ts";
import type { PlanBuffers } from "./evaluation.ts";
import { broughtFields, fillHasRow } from "./has_row.ts";
import type { PreparedCall } from "./prepared_call.ts";
import { sharedColumn } from "./shared_columns.ts";
import type { ColumnsRead } from "./wanted_factors.ts";

/** A block of the source in the columns of an open plan, until its results have been read. */
export interface PlacedBlock {
  /** First row of the block in the panel. */
  readonly firstRow: number;
  readonly rowCount: number;
  /** First row of the block in the input columns. */
  readonly inputRow: number;
  /** First row of the block in the result columns. */
  readonly outputRow: number;
  readonly times: BigInt64Array;
  readonly present: Uint8Array;
}

/** The input columns of an open plan. They do not move, so that a block needs no message to executors. */
export interface BlockInput {
  readonly buffers: Omit<PlanBuffers, "results">;
  /** Where a block stands, whose results have their place at this row of the result columns. */
  place(block: PanelBlock, firstRow: number, outputRow: number): PlacedBlock;
}

/** The columns of a panel in memory, read where they are. */
export class PanelInput implements BlockInput {
  readonly buffers: Omit<PlanBuffers, "results">;

  /** Bytes that it allocates. */
  static bytesOf({ present }: Panel, { read, range, params }: PreparedCall): number {
    const hasRowCells = read.fields.includes(HAS_ROW) ? present.length : 0;
    const paramCells = params.changeOverTime ? range.end * read.params.length : 0;
    return (hasRowCells + paramCells) * Float64Array.BYTES_PER_ELEMENT;
  }

  constructor(panel: Panel, call: PreparedCall) {
    const times = panel.time.values.subarray(0, call.range.end);
    const params = paramColumns(call, times.length);
    fillParams(params, call.params, times, 0);
    this.buffers = { ...columnsOfPanel(panel, call.read), params };
  }

  place({ rowCount, times, present }: PanelBlock, firstRow: number, outputRow: number): PlacedBlock {
    return { firstRow, rowCount, inputRow: firstRow, outputRow, times, present };
  }
}

/** A row of a block as it stands in the input columns: views of them. */
export function rowOfBlock(
  { fields, groups, params }: BlockInput["buffers"],
  { inputRow, times, present }: PlacedBlock,
  row: number,
): RetainedRow<ColumnRow> {
  const laneCount = present.length / times.length;
  const first = (inputRow + row) * laneCount;
  const ofRow = <T extends Float64Array | Int32Array>(column: T) =>
    column.subarray(first, first + laneCount) as T;
  const paramsByTime = Object.entries(params).filter(([, column]) => typeof column !== "number");
  return {
    row: {
      time: times[row]!,
      present: present.subarray(row * laneCount, (row + 1) * laneCount),
      fields: new Map(broughtFields([...fields.keys()]).map((name) => [name, ofRow(fields.get(name)!)])),
      groups: new Map([...groups].map(([name, { codes }]) => [name, ofRow(codes)])),
    },
    params: new Map(paramsByTime.map(([name, column]) => [name, (column as Float64Array)[inputRow + row]!])),
  };
}

/** Whether there are kept rows, with all columns of an open plan, which follow from the factors that any of its params want. */
export function hasColumns(
  rows: readonly LaneRow[],
  { fields, groups, params }: BlockInput["buffers"],
): boolean {
  const newest = rows.at(-1);
  return (
    newest !== undefined &&
    broughtFields([...fields.keys()]).every((name) => newest.fields.has(name)) &&
    [...groups.keys()].every((name) => newest.groups.has(name)) &&
    Object.entries(params).every(([name, column]) => typeof column === "number" || newest.params.has(name))
  );
}

/** The buffers of the caller that a panel in memory consists of; none for other sources. */
export function buffersOf(source: PanelSource): ArrayBufferLike[] {
  const panel = panelOf(source);
  if (!panel) return [];
  const { fields, groups, time, present } = panel;
  const codes = [...groups.values()].map((group) => group.codes);
  return [...fields.values(), ...codes, time.values, present].map(({ buffer }) => buffer);
}

/** The columns of a panel that a graph reads. */
export function columnsOfPanel(panel: Panel, read: ColumnsRead): Pick<PlanBuffers, "fields" | "groups"> {
  const column = (name: string) => (name === HAS_ROW ? hasRow(panel) : panel.fields.get(name)!);
  return {
    fields: new Map(read.fields.map((name) => [name, column(name)])),
    groups: new Map(read.groups.map((name) => [name, panel.groups.get(name)!])),
  };
}

function hasRow({ present }: Panel): Float64Array<SharedArrayBuffer> {
  const column = sharedColumn(present.length);
  fillHasRow(column, present);
  return column;
}

/** One value per param; if params change over time a column of this number of rows, to be filled by `fillParams`. */
export function paramColumns({ params, read }: PreparedCall, rowCount: number): PlanBuffers["params"] {
  return Object.fromEntries(
    read.params.map((name) => [name, params.changeOverTime ? sharedColumn(rowCount) : params.numeric(name)]),
  );
}

/** Fills columns of params with the values at these times, from this row of the columns on. */
export function fillParams(
  columns: PlanBuffers["params"],
  params: CallParams,
  times: BigInt64Array,
  row: number,
): void {
  if (!params.changeOverTime) return;
  const sets = params.setsAt(times);
  for (const [name, column] of Object.entries(columns))
    if (typeof column !== "number") params.fillNumeric(name, sets, column.subarray(row));
}
