/** Arrow IPC, file or stream, into a relation: a table of DuckDB, or a view when the file is large. */
import { stat } from "node:fs/promises";
import type { Field } from "apache-arrow";
import { isText, type ScanColumn } from "./arrow_columns.ts";
import { openArrowFile } from "./arrow_file.ts";
import { registerArrowScan } from "./arrow_scan.ts";
import { timeTypeOf, valuesPerUnit } from "./arrow_time.ts";
import { type Database, sqlText } from "./database.ts";
import { columnId, type InputColumn, type KeyFinder, parsing, type Relation } from "./relation.ts";

/** A table holds about what the file holds; beyond this share of DuckDB's memory the file is read once per query. */
const TABLE_MEMORY_SHARE = 0.5;

/** Opens an Arrow IPC file (.arrow, .feather, .ipc; plain, LZ4 or ZSTD) as `raw`. */
export async function openArrow(
  database: Database,
  file: string,
  path: string,
  findKeys: KeyFinder,
): Promise<Relation> {
  const format = "Arrow IPC";
  return parsing(file, format, async () => {
    const { schema, dictionaries, batches } = openArrowFile(path);
    const keys = findKeys(schema.fields.map((field) => field.name));
    const scanned = registerArrowScan(database, "arrow_rows", schema, batches, dictionaries);
    const { size } = await stat(path);
    const kind = size <= TABLE_MEMORY_SHARE * database.memoryBytes ? "TABLE" : "VIEW";
    await database.connection.run(`CREATE TEMP ${kind} stored AS FROM arrow_rows()`);
    await createRaw(database, scanned);
    const columns = schema.fields.map((field, index) => describeColumn(field, index, scanned[index] ?? null));
    return { database, file, format, keys, columns, lineOfRow: null };
  });
}

/** Creates the view `raw`, in which codes of labels are the text that they stand for, and codes under another name. */
async function createRaw(database: Database, scanned: readonly (ScanColumn | null)[]): Promise<void> {
  const columns: string[] = [];
  for (const [index, column] of scanned.entries()) {
    const id = columnId(index);
    if (column === null) continue;
    if (column.labels === undefined) {
      columns.push(id);
      continue;
    }
    await database.connection.run(`SET VARIABLE ${id}Labels = [${column.labels.map(sqlText).join(", ")}]`);
    columns.push(`list_extract(getvariable('${id}Labels'), ${id} + 1) AS ${id}`, `${id} AS ${codeId(id)}`);
  }
  await database.connection.run(`CREATE TEMP VIEW raw AS SELECT ${columns.join(", ")} FROM stored`);
}

function codeId(id: string): string {
  return `${id}Code`;
}

function describeColumn(field: Field, index: number, scanned: ScanColumn | null): InputColumn {
  const id = columnId(index);
  const type = timeTypeOf(field.type);
  const isMoment = type !== null && type.kind !== "integer";
  const isUsable = scanned !== null && !isMoment && field.name !== "";
  const kind = !isUsable ? "ignored" : isText(field.type) ? "text" : "number";
  const perUnit = valuesPerUnit(field.type);
  const sql = perUnit === 1 ? `CAST(${id} AS BIGINT)` : `${id} // ${perUnit}`;
  return {
    name: field.name,
    id,
    kind,
    typeName: String(field.type),
    time: type === null ? null : { type, sql },
    ...(scanned?.labels === undefined ? {} : { dictionary: { codeSql: codeId(id), labels: scanned.labels } }),
  };
}
