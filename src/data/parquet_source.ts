/** Parquet into a relation: a view, so that only the columns asked for are read, and nothing is copied. */
import type { TimeType } from "../panel.ts";
import { readStoredTimeTypes } from "./arrow_schema_text.ts";
import { type Database, queryRows, sqlInputPath } from "./database.ts";
import { columnId, type InputColumn, type KeyFinder, parsing, type Relation } from "./relation.ts";
import { daysSql, epochSql } from "./time_sql.ts";

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

interface StoredColumn {
  readonly name: string;
  /** Parquet's own words for the type, which tell milliseconds from microseconds. */
  readonly logicalType: string;
}

/** Opens a Parquet file as the view `raw`. */
export async function openParquet(
  database: Database,
  file: string,
  path: string,
  findKeys: KeyFinder,
): Promise<Relation> {
  const format = "Parquet";
  return parsing(file, format, async () => {
    const stored = await readStoredColumns(database, path);
    const keys = findKeys(stored.map((column) => column.name));
    const ids = stored.map((_, index) => columnId(index));
    await database.connection.run(
      `CREATE TEMP VIEW raw AS
       FROM read_parquet(${sqlInputPath(path)}, hive_partitioning = false, binary_as_string = true) AS t(${ids.join(", ")})`,
    );
    const types = await queryRows(database, "SELECT column_type FROM (DESCRIBE raw)");
    const arrowTimes = await readStoredTimeTypes(database, path);
    const columns = stored.map((column, index) =>
      describeColumn(column, index, String(types[index]?.[0]), arrowTimes.get(column.name)),
    );
    return { database, file, format, keys, columns, lineOfRow: null };
  });
}

/** Top-level columns with their names as written (DuckDB renames a name that differs only by case). */
async function readStoredColumns(database: Database, path: string): Promise<StoredColumn[]> {
  const rows = await queryRows(
    database,
    `SELECT name, coalesce(logical_type, '') || coalesce(converted_type, ''), CAST(coalesce(num_children, 0) AS DOUBLE)
     FROM parquet_schema(${sqlInputPath(path)})`,
  );
  const columns: StoredColumn[] = [];
  let nestedCount = 0; // elements still to come that belong to the column before, depth first
  for (const [name, logicalType, childCount] of rows.slice(1)) {
    if (nestedCount === 0) columns.push({ name: String(name), logicalType: String(logicalType) });
    else nestedCount -= 1;
    nestedCount += Number(childCount);
  }
  return columns;
}

function describeColumn(
  stored: StoredColumn,
  index: number,
  typeName: string,
  arrowTime: TimeType | undefined,
): InputColumn {
  const id = columnId(index);
  const { name } = stored;
  const named = name === "" ? "ignored" : null;
  const kind =
    named ?? (NUMBER_TYPE.test(typeName) ? "number" : TEXT_TYPE.test(typeName) ? "text" : "ignored");
  return { name, id, typeName, kind, time: describeTime(id, typeName, stored.logicalType, arrowTime) };
}

function describeTime(
  id: string,
  typeName: string,
  logicalType: string,
  arrowTime: TimeType | undefined,
): InputColumn["time"] {
  const bits = INTEGER_BITS.get(typeName);
  if (bits !== undefined) return { type: { kind: "integer", bits }, sql: `CAST(${id} AS BIGINT)` };
  if (typeName === "DATE") return { type: { kind: "date" }, sql: daysSql(id) };
  if (!typeName.startsWith("TIMESTAMP")) return null;
  const timezone = typeName === "TIMESTAMP WITH TIME ZONE" ? "UTC" : null;
  const unit =
    typeName === "TIMESTAMP_NS" ? "ns" : /MilliSeconds\(\)|TIMESTAMP_MILLIS/.test(logicalType) ? "ms" : "us";
  const type = arrowTime?.kind === "timestamp" ? arrowTime : ({ kind: "timestamp", unit, timezone } as const);
  return { type, sql: epochSql(id, type.unit) };
}
