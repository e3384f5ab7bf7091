/** Reads rows of a file of `writePanelFile`: record batches are found by their index, values are copied. */
import type { Field } from "apache-arrow";
import { isSystemError } from "../../files/system_error.ts";
import type { TimeColumn } from "../../panel.ts";
import { reasonOf } from "../../text/reason.ts";
import { type ArrowFile, openArrowFile } from "../arrow/arrow_file.ts";
import { fileUnreadable, notParsable } from "../errors.ts";
import { allocateBlocks, type BlockCells } from "../panel/block_cells.ts";
import {
  type BlockRequest,
  checkingRequests,
  type PanelBlock,
  type PanelSource,
  type RowRange,
  rowsOf,
} from "../panel/panel_source.ts";
import { panelFileColumns } from "./write_panel_file.ts";

/** What a file does not hold: the times of its rows, the symbols of its lanes, and which of its columns are wanted. */
export type PanelFileNames = Pick<
  PanelSource,
  "time" | "symbols" | "fieldNames" | "groupNames" | "seriesNames"
>;

interface PanelFile {
  readonly path: string;
  readonly arrow: ArrowFile;
  readonly time: TimeColumn;
  readonly laneCount: number;
  /** Rows in each record batch; the last one may have fewer. */
  readonly batchRows: number;
}

/** Rows `[first, end)` of some columns: those of a record batch. */
interface BatchValues extends RowRange {
  readonly values: readonly (Float64Array | Int32Array | Uint8Array)[];
}

/**
 * A panel file as a source. Of its bytes, two record batches are in memory at a time. Groups change over time and have no
 * labels. A source without lanes has no blocks. Each reading has memory of its own, so that several can go on at once.
 *
 * @throws DataError E303, here or from `blocks`, for a file that is not complete or that has other counts of rows and lanes
 *   or lacks columns, E309 for one that cannot be read; ResourceError E441 if two blocks do not fit in memory.
 */
export function openPanelFile(path: string, names: PanelFileNames): PanelSource {
  const { time, symbols, fieldNames, groupNames } = names;
  const [rowCount, laneCount] = [time.values.length, symbols.length];
  const file = reading(path, () => {
    const arrow = openArrowFile(path);
    const batchRows = batchRowsOf(arrow, rowCount, laneCount, panelFileColumns(fieldNames, groupNames));
    return { path, arrow, time, laneCount, batchRows };
  });
  const blocks = (request: BlockRequest) => readBlocks(file, request);
  return checkingRequests({ ...names, rowCount, laneCount, blocks, close: async () => {} });
}

/** @throws Error if the file does not have that shape and those columns. */
function batchRowsOf(
  { schema, batchCount }: ArrowFile,
  rowCount: number,
  laneCount: number,
  columns: readonly Field[],
): number {
  const [rows, lanes, batchRows] = ["rows", "lanes", "batchRows"].map((name) =>
    Number(schema.metadata.get(name)),
  );
  if (rows !== rowCount || lanes !== laneCount)
    throw new Error(`it has ${rows} rows x ${lanes} lanes instead of ${rowCount} x ${laneCount}`);
  const known = schema.fields.map(({ name, type }) => `${name}: ${type}`);
  const missing = columns.find(({ name, type }) => !known.includes(`${name}: ${type}`));
  if (missing !== undefined) throw new Error(`it has no column ${missing.name} of ${missing.type}`);
  if (batchCount !== (laneCount === 0 ? 0 : Math.ceil(rowCount / batchRows!)))
    throw new Error(`it has ${batchCount} record batches of ${batchRows} rows`);
  return batchRows!;
}

/** The requested rows and columns, block by block; each record batch is read once. */
async function* readBlocks(file: PanelFile, request: BlockRequest): AsyncGenerator<PanelBlock> {
  const { fields, groups, signal } = request;
  const { path, time, laneCount } = file;
  const rows = rowsOf(request, time.values.length);
  if (laneCount === 0 || rows.first === rows.end) return;
  const blockRows = Math.min(request.blockRows, rows.end - rows.first);
  const shape = { laneCount, fieldCount: fields.length, groupCount: groups.length };
  const buffers = allocateBlocks(path, blockRows < rows.end - rows.first ? 2 : 1, blockRows, shape);
  const batches = batchesOf(file, panelFileColumns(fields, groups), rows);
  let batch: BatchValues = { first: 0, end: rows.first, values: [] };
  const fill = ({ fields, groups, present }: BlockCells, first: number, end: number) => {
    for (let row = first; row < end; row = Math.min(end, batch.end)) {
      if (row === batch.end) batch = nextOf(batches);
      const [from, to] = [row, Math.min(end, batch.end)].map((each) => (each - batch.first) * laneCount);
      for (const [index, target] of [...fields, ...groups, present].entries())
        target.set(batch.values[index]!.subarray(from, to), (row - first) * laneCount);
    }
  };
  for (let first = rows.first; first < rows.end; first += blockRows) {
    signal?.throwIfAborted();
    const end = Math.min(rows.end, first + blockRows);
    const cells = buffers[0]!;
    buffers.reverse();
    reading(path, () => fill(cells, first, end));
    yield cells.block(request, time.values.subarray(first, end));
  }
}

/** @throws Error if a record batch has another size than it should have. */
function* batchesOf(
  { arrow, time, laneCount, batchRows }: PanelFile,
  columns: readonly Field[],
  rows: RowRange,
): Generator<BatchValues> {
  const index = Math.floor(rows.first / batchRows);
  const indices = Array.from({ length: Math.ceil(rows.end / batchRows) - index }, (_, at) => index + at);
  let first = index * batchRows;
  for (const batch of arrow.batches(indices)) {
    const end = Math.min(time.values.length, first + batchRows);
    const values = columns.map(({ name }) => batch.getChild(name)?.data[0]?.values ?? []);
    const lines = (end - first) * laneCount;
    if (batch.numRows !== lines || values.some(({ length }) => length < lines))
      throw new Error(`its rows from ${first} on do not have ${lines} lines`);
    yield { first, end, values };
    first = end;
  }
}

function nextOf<T>(items: Iterator<T>): T {
  const { done, value } = items.next();
  if (done) throw new Error("it ends too early");
  return value;
}

/** Runs work on a file. @throws DataError E309 for an error of the system, E303 for others. */
function reading<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (isSystemError(cause)) throw fileUnreadable(path, reasonOf(cause));
    throw notParsable(path, "a panel file", reasonOf(cause), cause);
  }
}
