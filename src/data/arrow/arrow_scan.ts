/** Arrow record batches as a table function of DuckDB: copies rows chunk by chunk as a query requests them. */
import { BIGINT, DuckDBTableFunction, DuckDBVector } from "@duckdb/node-api";
import type { RecordBatch, Schema, Vector } from "apache-arrow";
import { DataType } from "apache-arrow";
import type { Database } from "../duckdb/database.ts";
import { columnId } from "../duckdb/relation.ts";
import { type RowCopier, type ScanColumn, scanColumnOf } from "./arrow_columns.ts";

interface ScannedColumn {
  readonly column: ScanColumn;
  /** Position in the schema. */
  readonly index: number;
}

interface Bound {
  readonly parameters: readonly bigint[];
}

interface Progress {
  readonly batches: Iterator<RecordBatch>;
  readonly columns: readonly (ScannedColumn | undefined)[];
  copiers: readonly (RowCopier | undefined)[];
  row: number;
  rowCount: number;
}

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
  const scanned = columns.flatMap((column, index): ScannedColumn[] =>
    column === null ? [] : [{ column, index }],
  );
  // DuckDB would ignore a second function of the name.
  database.retire();
  database.connection.registerTableFunction(
    DuckDBTableFunction.create({
      name,
      supportsProjectionPushdown: true,
      parameterTypes: Array.from({ length: parameterCount }, () => BIGINT),
      bindFunction: (info) => {
        const parameters = Array.from(
          { length: parameterCount },
          (_, index) => info.getParameter(index) as bigint,
        );
        info.setBindData({ parameters } satisfies Bound);
        for (const { column, index } of scanned) info.addResultColumn(columnId(index), column.type);
      },
      initFunction: (info) => {
        const { parameters } = info.getBindData() as Bound;
        const batches = listBatches(...parameters)[Symbol.iterator]();
        const wanted = info.getColumnIndexes().map((index) => scanned[index]);
        info.setInitData({
          batches,
          columns: wanted,
          copiers: [],
          row: 0,
          rowCount: 0,
        } satisfies Progress);
        info.setMaxThreads(1); // one thread keeps the order of the rows
      },
      mainFunction: (info, chunk) => {
        const progress = info.getInitData() as Progress;
        const rowCount = nextRows(progress);
        chunk.rowCount = rowCount;
        if (rowCount === 0) return;
        progress.copiers.forEach((copy, index) => {
          copy?.(chunk, index, progress.row, rowCount);
        });
        progress.row += rowCount;
      },
    }),
  );
  return columns;
}

/** Moves to a batch with rows left; returns the number of rows for the next chunk, 0 at the end. */
function nextRows(progress: Progress): number {
  while (progress.row === progress.rowCount) {
    const next = progress.batches.next();
    if (next.done === true) return 0;
    const { numRows, data } = next.value;
    progress.copiers = progress.columns.map((scanned) => scanned?.column.bind(data.children[scanned.index]!));
    progress.row = 0;
    progress.rowCount = numRows;
  }
  return Math.min(progress.rowCount - progress.row, DuckDBVector.standardSize());
}
