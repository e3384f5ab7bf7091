/** An Arrow table into a file. */
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { DataType, type Field, RecordBatchFileWriter, type Schema, type Table } from "apache-arrow";
import { InternalError } from "../errors.ts";
import type { TimeType } from "../panel.ts";
import { registerArrowScan } from "./arrow_scan.ts";
import { ARROW_SCHEMA_KEY, encodeSchema } from "./arrow_schema_text.ts";
import { timeTypeOf, valuesPerUnit } from "./arrow_time.ts";
import { openDatabase, sqlName, sqlText } from "./database.ts";
import { checkOutputPath, type OutputFormat, writeThenRename } from "./output_path.ts";
import { columnId } from "./relation.ts";

/**
 * Writes a table of times, text and numbers (such as `factorTable` gives) in the format of the path's extension:
 * .arrow or .feather (IPC file), .parquet (ZSTD), .csv or .csv.gz. All hold the same values: null is an empty cell in
 * CSV, numbers have their shortest exact digits, infinities are `inf` and `-inf`, dates YYYY-MM-DD, times with zone
 * are in UTC. Parquet and Arrow also keep the types; CSV has none, so that whole numbers come back as 64-bit integers
 * and timestamps as microseconds. The file appears under its name when it is complete.
 *
 * @throws UsageError E542, E543, E544, DataError E343 as `checkOutputPath`; ResourceError E442 when writing fails.
 */
export async function writeTable(table: Table, path: string): Promise<void> {
  const names = table.schema.fields.map((field) => field.name);
  const format = await checkOutputPath(path, names);
  await writeThenRename(path, (temporaryPath) =>
    format === "arrow" ? writeArrow(table, temporaryPath) : copyTable(table, temporaryPath, format),
  );
}

async function writeArrow(table: Table, path: string): Promise<void> {
  await pipeline(RecordBatchFileWriter.writeAll(table).toNodeStream(), createWriteStream(path));
}

async function copyTable(table: Table, path: string, format: Exclude<OutputFormat, "arrow">): Promise<void> {
  using database = await openDatabase();
  const isScanned = registerArrowScan(database, table.schema, table.batches);
  const columns = table.schema.fields.map((field, index) => {
    if (isScanned[index] === true) return columnSql(field, columnId(index), format);
    throw new InternalError(`the output column ${field.name} has type ${field.type}`);
  });
  await database.connection.run(
    `COPY (SELECT ${columns.join(", ")} FROM arrow_rows()) TO ${sqlText(path)} (${copyOptions(format, table.schema)})`,
  );
}

function copyOptions(format: Exclude<OutputFormat, "arrow">, schema: Schema): string {
  if (format === "csv") return "FORMAT csv, HEADER, COMPRESSION none";
  if (format === "csv.gz") return "FORMAT csv, HEADER, COMPRESSION gzip";
  // Dictionaries would take -0 for 0.
  return `FORMAT parquet, COMPRESSION zstd, DICTIONARY_SIZE_LIMIT 0, KV_METADATA {${sqlText(ARROW_SCHEMA_KEY)}: ${sqlText(encodeSchema(schema))}}`;
}

function columnSql(field: Field, id: string, format: OutputFormat): string {
  return `${valueSql(field, id, format)} AS ${sqlName(field.name)}`;
}

function valueSql(field: Field, id: string, format: OutputFormat): string {
  const time = timeTypeOf(field.type);
  if (time === null) return DataType.isFloat(field.type) ? `nullif(${id}, 'nan'::DOUBLE)` : id;
  const moment = momentSql(`(${id} // ${valuesPerUnit(field.type)})`, time);
  const losesZone = time.kind === "timestamp" && time.unit === "ns" && time.timezone !== null;
  return losesZone && format !== "parquet" ? `${moment} || '+00'` : moment;
}

/** The date or timestamp of a BIGINT of its units since 1970; DuckDB has no zoned timestamps of nanoseconds. */
function momentSql(value: string, type: TimeType): string {
  if (type.kind === "integer") return `CAST(${value} AS ${type.bits === 32 ? "INTEGER" : "BIGINT"})`;
  if (type.kind === "date") return `DATE '1970-01-01' + CAST(${value} AS INTEGER)`;
  if (type.unit === "ns") return `make_timestamp_ns(${value})`;
  const micros = { s: `${value} * 1000000`, ms: `${value} * 1000`, us: value }[type.unit];
  const duckType =
    type.timezone === null
      ? { s: "TIMESTAMP_S", ms: "TIMESTAMP_MS", us: "TIMESTAMP" }[type.unit]
      : "TIMESTAMPTZ";
  return `CAST(make_timestamp(${micros}) AS ${duckType})`;
}
