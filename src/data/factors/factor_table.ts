/** Builds the long output table from factor values. */
import { type RecordBatch, Table } from "apache-arrow";
import type { Panel } from "../../panel.ts";
import { pause } from "../../steps.ts";
import { FactorBatches, type FactorBlock, type OutputColumns, type OutputOptions } from "./factor_batches.ts";

export interface FactorColumn {
  readonly name: string;
  /** `[rows x lanes]`, NaN for null; null for a factor that was not wanted, whose output is null. */
  readonly values: Float64Array | null;
}

export type FactorTableOptions = OutputOptions;

export interface FactorTable {
  readonly table: Table;
  /** Nulls of each factor's column, by name. */
  readonly nullCounts: Map<string, number>;
  /** Infinities among each factor's values, kept or not, by name; also in the field's metadata (`nonFinite`). */
  readonly nonFiniteCounts: Map<string, number>;
}

/**
 * The long output table: the time column under its own name and type, `symbol` (dictionary-encoded), one nullable
 * Float64 column per factor; one line per cell that the input has (`present`), sorted by time, then symbol.
 * NaN becomes null, and so does an infinity unless `keepInfinite`.
 *
 * @throws DataError E341 when a factor has the name of a key column, E342 when `from` and `to` leave no row.
 */
export async function factorTable(
  panel: Panel,
  factors: readonly FactorColumn[],
  options: FactorTableOptions = {},
): Promise<FactorTable> {
  const { time, symbols } = panel;
  const columns = { time, symbols, factors: factors.map(({ name }) => name) };
  return await factorTableOfBlocks(columns, slices(panel, factors), options);
}

/** Cells that are gathered at once: some ms. In between this thread does what else there is to do. */
const SLICE_CELLS = 2 ** 17;

async function* slices(
  { rowCount, laneCount, time, present }: Panel,
  factors: readonly FactorColumn[],
): AsyncGenerator<FactorBlock, void, void> {
  const rowsAtOnce = Math.max(1, Math.floor(SLICE_CELLS / Math.max(1, laneCount * factors.length)));
  for (let row = 0; row < rowCount || row === 0; row += rowsAtOnce) {
    if (row > 0) await pause();
    const end = Math.min(rowCount, row + rowsAtOnce);
    const cut = <T extends Float64Array | Uint8Array>(cells: T) =>
      cells.subarray(row * laneCount, end * laneCount) as T;
    yield {
      rowCount: end - row,
      times: time.values.subarray(row, end),
      present: cut(present),
      columns: new Map(factors.map(({ name, values }) => [name, values && cut(values)])),
    };
  }
}

/** The same table from rows that come block by block. @throws as `factorTable`, and what the blocks throw. */
export async function factorTableOfBlocks(
  columns: OutputColumns,
  blocks: AsyncIterable<FactorBlock>,
  options: FactorTableOptions = {},
): Promise<FactorTable> {
  const gathering = new FactorBatches(columns, options);
  const batches: RecordBatch[] = [];
  for await (const block of blocks) batches.push(...gathering.append(block));
  batches.push(...gathering.finish());
  return finishedTable(gathering, batches);
}

function finishedTable(gathering: FactorBatches, batches: RecordBatch[]): FactorTable {
  return {
    table: new Table(gathering.schema(), batches),
    nullCounts: gathering.nullCounts(),
    nonFiniteCounts: gathering.nonFiniteCounts(),
  };
}
