/** Parquet into a relation: a view, so that only the columns asked for are read, and nothing is copied. */
import type { DuckDBValue } from "@duckdb/node-api";
import type { TimeType } from "../panel.ts";
import { readStoredTimeTypes } from "./arrow_schema_text.ts";
import { type Database, queryRows, sqlInputPath, sqlInputPaths } from "./database.ts";
import {
  type ColumnOfFile,
  checkSameColumns,
  type InputFiles,
  nameOfFile,
  rowDescriber,
} from "./input_files.ts";
import {
  columnId,
  type InputColumn,
  type KeyFinder,
  parsing,
  type Relation,
  type TimeRole,
} from "./relation.ts";
import { aroundDatesSql, aroundMomentsSql, aroundSql, daysSql, epochSql } from "./time_sql.ts";

// Lists of numbers or texts end in brackets.
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
  /** Parquet's own words for the type, which tell milliseconds from microseconds. */
  readonly logicalType: string;
  /** What the Arrow schema beside the data says. */
  readonly arrowTime: TimeType | undefined;
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
    const ids = stored.map((_, index) => columnId(index));
    await database.connection.run(
      `CREATE TEMP VIEW raw AS
       FROM read_parquet(${sqlInputPaths(paths)}, hive_partitioning = false, binary_as_string = true) AS t(${ids.join(", ")})`,
    );
    const types = await queryRows(database, "SELECT column_type FROM (DESCRIBE raw)");
    const columns = stored.map((column, index) => describeColumn(column, index, String(types[index]?.[0])));
    const describeRow = rowDescriber(files, () => countRows(database, paths));
    return { database, file, format: FORMAT, keys, columns, describeRow };
  });
}

/** Top-level columns of each file with their names as written (DuckDB renames a name that differs only by case). */
async function readStoredColumns(database: Database, files: InputFiles): Promise<StoredColumn[][]> {
  const { paths } = files;
  const rows = await queryRows(
    database,
    `SELECT file_name, name, coalesce(logical_type, '') || coalesce(converted_type, ''),
       coalesce(duckdb_type, 'nested'), CAST(coalesce(num_children, 0) AS DOUBLE)
     FROM parquet_schema(${sqlInputPaths(paths)}) ORDER BY file_name, column_id`,
  ).catch(async (error: unknown) => {
    await findUnreadable(database, files);
    throw error;
  });
  const arrowTimes = await readStoredTimeTypes(database, paths);
  const rowsOfFiles = Map.groupBy(rows, ([path]) => String(path));
  return paths.map((path) => topLevelColumns(rowsOfFiles.get(path) ?? [], arrowTimes.get(path)));
}

/** DuckDB's message would not say which of several files it is. @throws DataError E303 naming it. */
async function findUnreadable(database: Database, files: InputFiles): Promise<void> {
  for (const path of files.paths) {
    const query = `SELECT 1 FROM parquet_schema(${sqlInputPath(path)}) LIMIT 1`;
    await parsing(nameOfFile(files, path), FORMAT, () => queryRows(database, query));
  }
}

/** From the tree of the columns, depth first and root included, the columns below the root. */
function topLevelColumns(
  rows: readonly DuckDBValue[][],
  arrowTimes: ReadonlyMap<string, TimeType> | undefined,
): StoredColumn[] {
  const columns: StoredColumn[] = [];
  let nestedCount = 0; // elements still to come that belong to the column before
  for (const [, name, logicalType, duckdbType, childCount] of rows.slice(1)) {
    if (nestedCount === 0) {
      const arrowTime = arrowTimes?.get(String(name));
      const types = { logicalType: String(logicalType), duckdbType: String(duckdbType) };
      columns.push({ name: String(name), ...types, arrowTime });
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

async function countRows(database: Database, paths: readonly string[]): Promise<number[]> {
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
  const named = name === "" ? "ignored" : null;
  const kind =
    named ?? (NUMBER_TYPE.test(typeName) ? "number" : TEXT_TYPE.test(typeName) ? "text" : "ignored");
  const type = timeTypeOf(stored, typeName);
  return { name, id, typeName, kind, time: type === null ? null : timeRole(id, typeName, type) };
}

/** The time type of a column of DuckDB's type, null if it cannot hold times. */
function timeTypeOf({ logicalType, arrowTime }: StoredColumn, typeName: string): TimeType | null {
  const bits = INTEGER_BITS.get(typeName);
  if (bits !== undefined) return { kind: "integer", bits };
  if (typeName === "DATE") return { kind: "date" };
  if (!typeName.startsWith("TIMESTAMP")) return null;
  if (arrowTime?.kind === "timestamp") return arrowTime;
  const timezone = typeName === "TIMESTAMP WITH TIME ZONE" ? "UTC" : null;
  const unit =
    typeName === "TIMESTAMP_NS" ? "ns" : /MilliSeconds\(\)|TIMESTAMP_MILLIS/.test(logicalType) ? "ms" : "us";
  return { kind: "timestamp", unit, timezone };
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
