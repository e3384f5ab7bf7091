/** Opens Arrow IPC, file or stream, as a relation: a table of DuckDB, or a view if the file is large. */
import { stat } from "node:fs/promises";
import type { Field, RecordBatch, Schema, Vector } from "apache-arrow";
import { isText, isTooWide, type ScanColumn } from "../arrow/arrow_columns.ts";
import { type ArrowFile, openArrowFile } from "../arrow/arrow_file.ts";
import { partsByTime } from "../arrow/arrow_parts.ts";
import { registerArrowScan } from "../arrow/arrow_scan.ts";
import { type Database, sqlText } from "../duckdb/database.ts";
import {
  columnId,
  type InputColumn,
  type KeyColumns,
  type KeyFinder,
  parsing,
  type Relation,
} from "../duckdb/relation.ts";
import { columnUnreadable } from "../errors.ts";
import { timeTypeOf, valuesPerUnit } from "../time/arrow_time.ts";
import { aroundSql, floorSql, spanOfTimes } from "../time/time_sql.ts";
import { checkSameColumns, type InputFiles, nameOfFile, rowDescriber } from "./input_files.ts";

/** Larger files are read once per query; a table takes about the size of the file. */
const TABLE_MEMORY_SHARE = 0.5;

export const ARROW_FORMAT = "Arrow IPC";

/** Opens an Arrow IPC file (.arrow, .feather, .ipc; plain, LZ4 or ZSTD), or several that are one table, as `raw`. */
export async function openArrow(
  database: Database,
  files: InputFiles,
  findKeys: KeyFinder,
): Promise<Relation> {
  const { file, paths } = files;
  return parsing(file, ARROW_FORMAT, async () => {
    const opened: ArrowFile[] = [];
    for (const path of paths)
      opened.push(await parsing(nameOfFile(files, path), ARROW_FORMAT, async () => openArrowFile(path)));
    const { schema, dictionaries } = opened[0]!;
    const keys = findKeys(schema.fields.map((field) => field.name));
    checkSameColumns(
      files,
      opened.map((each) => each.schema.fields.map(({ name, type }) => ({ name, typeName: String(type) }))),
    );
    // Each file has its own dictionaries, so codes are comparable only within a file.
    const shared = opened.length === 1 && dictionaries !== null ? { dictionaries } : {};
    const byteCounts = await Promise.all(paths.map(async (path) => (await stat(path)).size));
    const byteCount = byteCounts.reduce((sum, size) => sum + size, 0);
    const kind = byteCount <= TABLE_MEMORY_SHARE * database.memoryBytes ? "TABLE" : "VIEW";
    const batches = () => batchesOf(opened);
    const { rawSql, columns } = await createStored(database, file, { schema, batches, ...shared }, kind);
    const describeRow = rowDescriber(files, async () => opened.map(countRows));
    const relation = { database, file, format: ARROW_FORMAT, keys, columns, describeRow };
    if (kind === "TABLE" || keys.time === null) return relation;
    const around = partsByTime(opened, keys.time);
    registerArrowScan(database, "arrow_part", schema, around, { ...shared, parameterCount: 2 });
    const perUnit = valuesPerUnit(schema.fields[keys.time]!.type);
    const partSql = (first: bigint, last: bigint) =>
      rawSql(`arrow_part(${spanOfTimes(first, last, perUnit).join(", ")})`);
    return { ...relation, partSql };
  });
}

/**
 * Opens record batches in memory as `raw`.
 *
 * @param name for messages
 * @param dictionaries those by id that all batches share
 */
export async function openBatches(
  database: Database,
  name: string,
  { schema, batches }: { readonly schema: Schema; readonly batches: readonly RecordBatch[] },
  keys: KeyColumns,
  dictionaries?: ReadonlyMap<number, Vector>,
): Promise<Relation> {
  const rows = { schema, batches: () => batches, dictionaries };
  const { columns } = await createStored(database, name, rows, "TABLE");
  return { database, file: name, format: ARROW_FORMAT, keys, columns, describeRow: null };
}

interface ArrowRows {
  readonly schema: Schema;
  readonly batches: () => Iterable<RecordBatch>;
  readonly dictionaries?: ReadonlyMap<number, Vector> | undefined;
}

/** Creates the table or the view `stored`, and the view `raw` over it. @throws DataError E315 for numbers that are too wide. */
async function createStored(
  database: Database,
  file: string,
  { schema, batches, dictionaries }: ArrowRows,
  kind: "TABLE" | "VIEW",
): Promise<{ rawSql: (stored: string) => string; columns: InputColumn[] }> {
  const tooWide = schema.fields.find(({ type }) => isTooWide(type));
  if (tooWide !== undefined) throw columnUnreadable(file, tooWide.name, String(tooWide.type));
  const scanned = registerArrowScan(database, "arrow_rows", schema, batches, { dictionaries });
  await database.connection.run(`CREATE TEMP ${kind} stored AS FROM arrow_rows()`);
  const rawSql = await createRaw(database, scanned);
  const columns = schema.fields.map((field, index) => describeColumn(field, index, scanned[index] ?? null));
  return { rawSql, columns };
}

function* batchesOf(files: readonly ArrowFile[]): Generator<RecordBatch> {
  for (const { batches } of files) yield* batches();
}

function countRows({ batches }: ArrowFile): number {
  let rowCount = 0;
  for (const { numRows } of batches()) rowCount += numRows;
  return rowCount;
}

/**
 * Creates the view `raw`, which has the text of labels in place of their codes, and the codes under another name.
 *
 * @returns a function that gives the same query over other rows
 */
async function createRaw(
  database: Database,
  scanned: readonly (ScanColumn | null)[],
): Promise<(stored: string) => string> {
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
  const rawSql = (stored: string) => `SELECT ${columns.join(", ")} FROM ${stored}`;
  await database.connection.run(`CREATE TEMP VIEW raw AS ${rawSql("stored")}`);
  return rawSql;
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
  const sql = perUnit === 1 ? `CAST(${id} AS BIGINT)` : floorSql(id, perUnit);
  const around = (first: bigint, last: bigint) => aroundSql(id, first, last, perUnit);
  return {
    name: field.name,
    id,
    kind,
    typeName: String(field.type),
    time: type === null ? null : { type, sql, around, cut: perUnit === 1 ? undefined : "day" },
    ...(scanned?.labels === undefined ? {} : { dictionary: { codeSql: codeId(id), labels: scanned.labels } }),
  };
}
