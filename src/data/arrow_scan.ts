/** An Arrow table as a table function of DuckDB: rows are copied chunk by chunk as a query asks for them. */
import { DuckDBTableFunction, DuckDBVector } from "@duckdb/node-api";
import type { RecordBatch, Schema } from "apache-arrow";
import { scanColumnOf } from "./arrow_columns.ts";
import type { Database } from "./database.ts";
import { columnId } from "./relation.ts";

interface Progress {
  batchIndex: number;
  row: number;
}

/**
 * Registers the table function `arrow_rows()` with the columns `c0`, `c1`, ... of the batches, in their order of
 * rows. Gives for each column whether DuckDB has it; the others (nested, binary, ...) are left out.
 */
export function registerArrowScan(
  database: Database,
  schema: Schema,
  batches: readonly RecordBatch[],
): boolean[] {
  const columns = schema.fields.map((field, index) =>
    scanColumnOf(
      field.type,
      batches.map((batch) => batch.data.children[index]!),
    ),
  );
  const scanned = columns.flatMap((column, index) =>
    column === null ? [] : [{ column, id: columnId(index) }],
  );
  database.connection.registerTableFunction(
    DuckDBTableFunction.create({
      name: "arrow_rows",
      bindFunction: (info) => {
        for (const { column, id } of scanned) info.addResultColumn(id, column.type);
        info.setCardinality(
          batches.reduce((sum, batch) => sum + batch.numRows, 0),
          true,
        );
      },
      initFunction: (info) => {
        info.setInitData({ batchIndex: 0, row: 0 } satisfies Progress);
        info.setMaxThreads(1); // one thread keeps the order of the rows
      },
      mainFunction: (info, chunk) => {
        const progress = info.getInitData() as Progress;
        const rowCount = nextRows(progress, batches);
        chunk.rowCount = rowCount;
        if (rowCount === 0) return;
        scanned.forEach(({ column }, index) => {
          column.fill(chunk.getColumnVector(index), progress.batchIndex, progress.row, rowCount);
        });
        progress.row += rowCount;
      },
    }),
  );
  return columns.map((column) => column !== null);
}

/** Moves on to a batch with rows left; the number of rows for the next chunk, 0 at the end. */
function nextRows(progress: Progress, batches: readonly RecordBatch[]): number {
  while (progress.batchIndex < batches.length) {
    const left = batches[progress.batchIndex]!.numRows - progress.row;
    if (left > 0) return Math.min(left, DuckDBVector.standardSize());
    progress.batchIndex += 1;
    progress.row = 0;
  }
  return 0;
}
