/** Opens Parquet as a relation: a view, so that only requested columns are read, and nothing is copied. */
import type { DuckDBValue } from "@duckdb/node-api";
import type { DataType } from "apache-arrow";
import type { TimeType } from "../../panel.ts";
import { isTooWide, scanColumnOf } from "../arrow/arrow_columns.ts";
import { readStoredTypes } from "../arrow/arrow_schema_text.ts";
import { type Database, queryRows, sqlInputPath, sqlInputPaths } from "../duckdb/database.ts";
import {
  columnId,
  type InputColumn,
  type KeyFinder,
  parsing,
  type Relation,
  type TimeRole,
} from "../duckdb/relation.ts";
import { columnUnreadable } from "../errors.ts";
import { timeTypeOf as arrowTimeTypeOf } from "../time/arrow_time.ts";
import {
  aroundDatesSql,
  aroundMomentsSql,
  aroundSql,
  daysSql,
  epochSql,
  type TimestampUnit,
} from "../time/time_sql.ts";
import {
  type ColumnOfFile,
  checkSameColumns,
  type InputFiles,
  nameOfFile,
  rowDescriber,
} from "./input_files.ts";

// The names of list types end in brackets.
const NUMBER_TYPE = /^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL\(.*\)|BOOLEAN)$/;
const TEXT_TYPE = /^VARCHAR$/;
const INTEGER_BITS: ReadonlyMap<string, 32 | 64> = new Map([
  ["TINYINT", 32],
  ["SMALLINT", 32],
  ["INTEGER", 32],
  ["UTINYINT", 32],
  ["USMALLINT", 32],
  ["UINTEGER", 64],
  ["BIGINT", 64],
]);

/** A column as a file stores it. */
interface StoredColumn {
  readonly name: string;
  /** DuckDB's type for it; of nested columns `nested`. */
  readonly duckdbType: string;
  /** Parquet's own name of the type, which distinguishes milliseconds from microseconds. */
  readonly logicalType: string;
  /** The type in which the file stores the values. */
  readonly physicalType: string;
  /** The type in the Arrow schema of the file, if it has one. */
  readonly arrowType: DataType | undefined;
}

const FORMAT = "Parquet";

/** Opens a Parquet file, or several that are one table, as the view `raw`. */
export async function openParquet(
  database: Database,
  files: InputFiles,
  findKeys: KeyFinder,
): Promise<Relation> {
  const { file, paths } = files;
  return parsing(file, FORMAT, async () => {
    const columnsOfFiles = await readStoredColumns(database, files);
    const stored = columnsOfFiles[0]!;
    const keys = findKeys(stored.map((column) => column.name));
    checkSameColumns(
      files,
      columnsOfFiles.map((each) => each.map(columnInWords)),
    );
    for (const [index, columns] of columnsOfFiles.entries()) {
      const wide = columns.find(isUnreadable);
      if (wide !== undefined)
        throw columnUnreadable(nameOfFile(files, paths[index]!), wide.name, wide.logicalType);
    }
    const ids = stored.map((_, index) => columnId(index));
    await database.connection.run(
      `CREATE TEMP VIEW raw AS
       FROM read_parquet(${sqlInputPaths(paths)}, hive_partitioning = false, binary_as_string = true) AS t(${ids.join(", ")})`,
    );
    const types = await queryRows(database, "SELECT column_type FROM (DESCRIBE raw)");
    const columns = stored.map((column, index) => describeColumn(column, index, String(types[index]?.[0])));
    const describeRow = rowDescriber(files, () => parquetRowCounts(database, paths));
    return { database, file, format: FORMAT, keys, columns, describeRow };
  });
}

/** Top-level columns of each file with their names as written (DuckDB renames a name that differs only by case). */
async function readStoredColumns(database: Database, files: InputFiles): Promise<StoredColumn[][]> {
  const { paths } = files;
  const rows = await queryRows(
    database,
    `SELECT file_name, name, concat_ws(' ', logical_type, converted_type),
       coalesce(duckdb_type, 'nested'), coalesce(type, ''), CAST(coalesce(num_children, 0) AS DOUBLE)
     FROM parquet_schema(${sqlInputPaths(paths)}) ORDER BY file_name, column_id`,
  ).catch(async (error: unknown) => {
    await findUnreadable(database, files);
    throw error;
  });
  const arrowTypes = await readStoredTypes(database, paths);
  const rowsOfFiles = Map.groupBy(rows, ([path]) => String(path));
  return paths.map((path) => topLevelColumns(rowsOfFiles.get(path) ?? [], arrowTypes.get(path)));
}

/** Finds the file that cannot be read, which DuckDB's message does not name. @throws DataError E303. */
async function findUnreadable(database: Database, files: InputFiles): Promise<void> {
  for (const path of files.paths) {
    const query = `SELECT 1 FROM parquet_schema(${sqlInputPath(path)}) LIMIT 1`;
    await parsing(nameOfFile(files, path), FORMAT, () => queryRows(database, query));
  }
}

/** The columns below the root, of the tree of columns in depth-first order. */
function topLevelColumns(
  rows: readonly DuckDBValue[][],
  arrowTypes: ReadonlyMap<string, DataType> | undefined,
): StoredColumn[] {
  const columns: StoredColumn[] = [];
  let nestedCount = 0; // remaining elements of the previous column
  for (const [, name, logicalType, duckdbType, physicalType, childCount] of rows.slice(1)) {
    if (nestedCount === 0) {
      const types = {
        logicalType: String(logicalType),
        duckdbType: String(duckdbType),
        physicalType: String(physicalType),
      };
      columns.push({ name: String(name), ...types, arrowType: arrowTypes?.get(String(name)) });
    } else nestedCount -= 1;
    nestedCount += Number(childCount);
  }
  return columns;
}

function columnInWords(stored: StoredColumn): ColumnOfFile {
  const { name, duckdbType } = stored;
  const type = timeTypeOf(stored, duckdbType);
  if (type?.kind !== "timestamp") return { name, typeName: duckdbType };
  return { name, typeName: `TIMESTAMP(${type.unit}${type.timezone === null ? "" : `, ${type.timezone}`})` };
}

/** Rows of Parquet files by their footers. @throws DuckDB's error for a file that is not Parquet. */
export async function parquetRowCounts(database: Database, paths: readonly string[]): Promise<number[]> {
  const rows = await queryRows(
    database,
    `SELECT file_name, CAST(num_rows AS DOUBLE) FROM parquet_file_metadata(${sqlInputPaths(paths)})`,
  );
  const counts = new Map(rows.map(([path, count]) => [String(path), Number(count)]));
  return paths.map((path) => counts.get(path) ?? 0);
}

function describeColumn(stored: StoredColumn, index: number, typeName: string): InputColumn {
  const id = columnId(index);
  const { name } = stored;
  const unread = name === "" || isUnread(stored) ? "ignored" : null;
  const kind =
    unread ?? (NUMBER_TYPE.test(typeName) ? "number" : TEXT_TYPE.test(typeName) ? "text" : "ignored");
  const type = timeTypeOf(stored, typeName);
  const cut = isCut(stored, typeName) ? "microsecond" : undefined;
  return { name, id, typeName, kind, time: type === null ? null : { ...timeRole(id, typeName, type), cut } };
}

/** True for decimals of more than 38 digits, which DuckDB reads as doubles, by Parquet's or Arrow's schema. */
function isUnreadable({ name, logicalType, duckdbType, arrowType }: StoredColumn): boolean {
  if (name === "") return false;
  const isMisread = /DECIMAL|DecimalType/.test(logicalType) && !duckdbType.startsWith("DECIMAL");
  return isMisread || (arrowType !== undefined && isTooWide(arrowType));
}

/** True for types that are not read from Arrow files either, such as durations, which Parquet has as numbers or bytes. */
function isUnread({ physicalType, duckdbType, arrowType }: StoredColumn): boolean {
  if (physicalType === "FIXED_LEN_BYTE_ARRAY" && duckdbType === "BLOB") return true;
  return arrowType !== undefined && scanColumnOf(arrowType, undefined) === null;
}

/** The time type of a column of DuckDB's type, null if it cannot hold times. */
function timeTypeOf(stored: StoredColumn, typeName: string): TimeType | null {
  if (isUnread(stored)) return null;
  const { logicalType, arrowType } = stored;
  const arrowTime = arrowType === undefined ? null : arrowTimeTypeOf(arrowType);
  const bits = INTEGER_BITS.get(typeName);
  if (bits !== undefined) return { kind: "integer", bits };
  if (typeName === "DATE") return { kind: "date" };
  if (!typeName.startsWith("TIMESTAMP")) return null;
  if (arrowTime?.kind === "timestamp") return { ...arrowTime, unit: unitRead(arrowTime.unit, typeName) };
  const timezone = typeName === "TIMESTAMP WITH TIME ZONE" ? "UTC" : null;
  const unit =
    typeName === "TIMESTAMP_NS" ? "ns" : /MilliSeconds\(\)|TIMESTAMP_MILLIS/.test(logicalType) ? "ms" : "us";
  return { kind: "timestamp", unit, timezone };
}

/** True for timestamps of nanoseconds that DuckDB reads as microseconds: those with a zone, and INT96. */
function isCut({ physicalType, logicalType }: StoredColumn, typeName: string): boolean {
  const isFine = physicalType === "INT96" || logicalType.includes("NanoSeconds()");
  return isFine && typeName !== "TIMESTAMP_NS";
}

/** The unit of the values that DuckDB reads: microseconds for nanoseconds with a zone, and for INT96. */
function unitRead(unit: TimestampUnit, typeName: string): TimestampUnit {
  return unit === "ns" && typeName !== "TIMESTAMP_NS" ? "us" : unit;
}

function timeRole(id: string, typeName: string, type: TimeType): TimeRole {
  switch (type.kind) {
    case "integer":
      return {
        type,
        sql: `CAST(${id} AS BIGINT)`,
        around: (first, last) => aroundSql(id, first, last, 1),
      };
    case "date":
      return { type, sql: daysSql(id), around: (first, last) => aroundDatesSql(id, first, last) };
    case "timestamp":
      return {
        type,
        sql: epochSql(id, type.unit),
        around: (first, last) => aroundMomentsSql(id, typeName, type.unit, first, last),
      };
  }
}
