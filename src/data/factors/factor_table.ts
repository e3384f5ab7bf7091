/** Builds the long output table from factor values. */
import { type RecordBatch, Table } from "apache-arrow";
import { FactorBatches, type FactorBlock, type OutputColumns, type OutputOptions } from "./factor_batches.ts";

export interface FactorTable {
  readonly table: Table;
  /** Nulls of each factor's column, by name. */
  readonly nullCounts: ReadonlyMap<string, number>;
  /** Infinities among each factor's values, kept or not, by name; also in the field's metadata (`nonFinite`). */
  readonly nonFiniteCounts: ReadonlyMap<string, number>;
}

/**
 * The long output table of rows that come block by block: the time column under its own name and type, `symbol`
 * (dictionary-encoded), one nullable Float64 column per factor; one line per cell that the input has (`present`), sorted by
 * time, then symbol. NaN becomes null, and so does an infinity unless `keepInfinite`.
 *
 * @throws DataError E314 when a factor has the name of a key column; what the
 *   blocks throw.
 */
export async function factorTableOfBlocks(
  columns: OutputColumns,
  blocks: AsyncIterable<FactorBlock> | Iterable<FactorBlock>,
  options: OutputOptions = {},
): Promise<FactorTable> {
  const gathering = new FactorBatches(columns, options);
  const batches: RecordBatch[] = [];
  for await (const block of blocks) batches.push(...(await Array.fromAsync(gathering.append(block))));
  batches.push(...(await Array.fromAsync(gathering.finish())));
  return {
    table: new Table(gathering.schema(), batches),
    nullCounts: gathering.nullCounts,
    nonFiniteCounts: gathering.nonFiniteCounts,
  };
}
