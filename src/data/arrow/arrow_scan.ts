/** Arrow record batches as a table function of DuckDB: copies rows chunk by chunk as a query requests them. */
import { BIGINT, type DuckDBDataChunk, DuckDBTableFunction } from "@duckdb/node-api";
import type { RecordBatch, Schema, Vector } from "apache-arrow";
import { DataType } from "apache-arrow";
import type { Database } from "../duckdb/database.ts";
import { columnId } from "../duckdb/relation.ts";
import { ROWS_MAX, type ScanColumn, scanColumnOf } from "./arrow_columns.ts";

/** Copies the next rows into a chunk. */
type ChunkFiller = (chunk: DuckDBDataChunk) => void;

/**
 * Registers the table function `name()` with the columns `c0`, `c1`, ... of the batches, rows in their order. Every query
 * reads the batches that `listBatches` returns for the function's parameters, `parameterCount` whole numbers.
 * `dictionaries`, by id, are those that no batch changes.
 *
 * @returns the columns as DuckDB has them, null for those it cannot have: nested ones, durations, ...
 */
export function registerArrowScan(
  database: Database,
  name: string,
  schema: Schema,
  listBatches: (...parameters: bigint[]) => Iterable<RecordBatch>,
  {
    dictionaries = new Map<number, Vector>(),
    parameterCount = 0,
  }: {
    readonly dictionaries?: ReadonlyMap<number, Vector> | undefined;
    readonly parameterCount?: number;
  } = {},
): (ScanColumn | null)[] {
  const columns = schema.fields.map(({ type }) =>
    scanColumnOf(type, DataType.isDictionary(type) ? dictionaries.get(type.id) : undefined),
  );
  const positions = [...columns.keys()].filter((index) => columns[index] !== null);
  // DuckDB would ignore a second function of the name.
  database.retire();
  database.connection.registerTableFunction(
    DuckDBTableFunction.create({
      name,
      supportsProjectionPushdown: true,
      parameterTypes: Array.from({ length: parameterCount }, () => BIGINT),
      bindFunction: (info) => {
        info.setBindData(Array.from({ length: parameterCount }, (_, index) => info.getParameter(index)));
        for (const index of positions) info.addResultColumn(columnId(index), columns[index]!.type);
      },
      initFunction: (info) => {
        const batches = listBatches(...(info.getBindData() as bigint[]));
        const wanted = info.getColumnIndexes().map((index) => positions[index]);
        info.setInitData(chunksOf(batches, columns, wanted));
        info.setMaxThreads(1); // one thread keeps the order of the rows
      },
      mainFunction: (info, chunk) => {
        const next = (info.getInitData() as Generator<ChunkFiller, void>).next();
        if (next.done) chunk.rowCount = 0;
        else next.value(chunk);
      },
    }),
  );
  return columns;
}

/** @param wanted positions of columns; undefined for one that is none of them */
function* chunksOf(
  batches: Iterable<RecordBatch>,
  columns: readonly (ScanColumn | null)[],
  wanted: readonly (number | undefined)[],
): Generator<ChunkFiller, void> {
  for (const { numRows, data } of batches) {
    const copiers = wanted.map((index = -1) => columns[index]?.bind(data.children[index]!));
    for (let row = 0; row < numRows; row += ROWS_MAX) {
      const rowCount = Math.min(numRows - row, ROWS_MAX);
      yield (chunk) => {
        chunk.rowCount = rowCount;
        for (const [index, copy] of copiers.entries()) copy?.(chunk, index, row, rowCount);
      };
    }
  }
}
