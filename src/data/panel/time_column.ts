/** The rows of the panel: the distinct times of a relation. */
import { isDeepStrictEqual } from "node:util";
import type { TimeColumn, TimeType } from "../../panel.ts";
import { type Database, queryRows, sqlText } from "../duckdb/database.ts";
import {
  changedMeanwhile,
  firstRowWhere,
  type InputColumn,
  type Relation,
  type TimeRole,
} from "../duckdb/relation.ts";
import { columnTypeUnusable, emptyKey, noRows, timeInfinite, timeTextInvalid } from "../errors.ts";
import { hasNanosecondsSql, isDateShapedSql, textTimeSql } from "../time/time_sql.ts";
import type { RowRange } from "./panel_source.ts";

export interface PanelTimes {
  readonly column: TimeColumn;
  /** BIGINT expression over `raw`: the time of a row. */
  readonly timeSql: string;
  /**
   * An expression that is fast to read and ascends with time: the time itself, or for text an INTEGER code, whose panel row
   * is in `panelRowOfCode` (else null).
   */
  readonly rankSql: string;
  readonly panelRowOfCode: Int32Array | null;
  /** The text after FROM that selects the rows of `raw` of these panel rows. */
  inputOf(rows: RowRange): Promise<string>;
}

/**
 * Finds the distinct times of the panel. Numbers times that are text, so that each distinct text is parsed once.
 *
 * @throws DataError E315 for a column that is not of times, E316 for text that is not a time, E321 for an empty time, E323
 *   for an infinite one.
 */
export async function createTimes(relation: Relation): Promise<PanelTimes> {
  const column = timeColumnOf(relation);
  const { time: role } = column;
  if (role === null) return createTextTimes(relation, column);
  await createKeys(relation, column, role.sql, infiniteTimes(role.type));
  const rows = await queryRows(relation.database, "SELECT key FROM timeKeys ORDER BY key");
  const values = BigInt64Array.from(rows, ([time]) => time as bigint);
  return numericTimes(relation, role, { name: column.name, type: role.type, values });
}

/**
 * The times of a file whose panel is known. Reads only times that are text, once each.
 *
 * @throws DataError E303 if the file has other times.
 */
export async function createKnownTimes(relation: Relation, known: TimeColumn): Promise<PanelTimes> {
  const column = timeColumnOf(relation);
  const { time: role } = column;
  const times = role === null ? await createTextTimes(relation, column) : numericTimes(relation, role, known);
  const { values } = times.column;
  const isSameType = isDeepStrictEqual(role?.type ?? times.column.type, known.type);
  const isSame =
    values.length === known.values.length && values.every((time, row) => time === known.values[row]);
  if (!isSameType || !isSame) throw changedMeanwhile(relation);
  return times;
}

function timeColumnOf({ file, columns, keys }: Relation): InputColumn {
  const column = columns[keys.time ?? -1];
  if (column === undefined) throw noRows(file);
  if (column.time === null && column.kind !== "text")
    throw columnTypeUnusable(file, "time", column.name, column.typeName);
  return column;
}

function numericTimes({ partSql }: Relation, { sql, around }: TimeRole, column: TimeColumn): PanelTimes {
  const { values } = column;
  const inputOf = async ({ first, end }: RowRange) => {
    if (first === 0 && end === values.length) return "raw";
    const [firstTime, lastTime] = [values[first]!, values[end - 1]!];
    const input = partSql === undefined ? "raw" : `(${partSql(firstTime, lastTime)})`;
    return `${input} WHERE ${around(firstTime, lastTime)} AND ${sql} BETWEEN ${firstTime} AND ${lastTime}`;
  };
  return { column, timeSql: sql, rankSql: sql, panelRowOfCode: null, inputOf };
}

/** Creates the table `times` with `(key, panelRow)` of each distinct text, and numbers the texts by their times. */
async function createTextTimes(relation: Relation, column: InputColumn): Promise<PanelTimes> {
  const { database } = relation;
  const keySql = `nullif(CAST(${column.id} AS VARCHAR), '')`;
  await createKeys(relation, column, keySql, []);
  const type = await findTextType(relation, column, keySql);
  await database.connection.run(
    `CREATE TEMP TABLE times AS
     SELECT key, time, dense_rank() OVER (ORDER BY time) - 1 AS panelRow
     FROM (SELECT key, ${textTimeSql("key", type)} AS time FROM timeKeys)`,
  );
  const rows = await queryRows(database, "SELECT DISTINCT time FROM times ORDER BY time");
  const values = BigInt64Array.from(rows, ([time]) => time as bigint);
  const order = "ORDER BY panelRow, key";
  await database.connection.run(`CREATE TYPE timeTexts AS ENUM (SELECT key FROM times ${order})`);
  const panelRows = await queryRows(database, `SELECT CAST(panelRow AS DOUBLE) FROM times ${order}`);
  const rankSql = `CAST(enum_code(CAST(${keySql} AS timeTexts)) AS INTEGER)`;
  return {
    column: { name: column.name, type, values },
    timeSql: textTimeSql(keySql, type),
    rankSql,
    panelRowOfCode: Int32Array.from(panelRows, ([panelRow]) => Number(panelRow)),
    inputOf: async (rows) => {
      if (rows.first === 0 && rows.end === values.length) return "raw";
      return `raw WHERE ${await textCondition(database, column, rankSql, rows)}`;
    },
  };
}

/** Also bounds the texts, by which DuckDB can skip parts of a file: texts mostly sort like their times. */
async function textCondition(
  database: Database,
  { id }: InputColumn,
  rankSql: string,
  { first, end }: RowRange,
): Promise<string> {
  const [row] = await queryRows(
    database,
    `SELECT min(key), max(key), min(rank), max(rank)
     FROM (SELECT key, panelRow, enum_code(CAST(key AS timeTexts)) AS rank FROM times)
     WHERE panelRow >= ${first} AND panelRow < ${end}`,
  );
  const [firstText, lastText, firstRank, lastRank] = (row ?? []).map(String);
  const around = `${id} BETWEEN ${sqlText(firstText!)} AND ${sqlText(lastText!)}`;
  return `${around} AND ${rankSql} BETWEEN ${firstRank} AND ${lastRank}`;
}

/** @throws DataError E321 if a row has no time, E323 if it is infinite. */
async function createKeys(
  relation: Relation,
  column: InputColumn,
  keySql: string,
  infinite: readonly bigint[],
): Promise<void> {
  const { database, file } = relation;
  await database.connection.run(`CREATE TEMP TABLE timeKeys AS SELECT DISTINCT ${keySql} AS key FROM raw`);
  const noTime = (key: string) =>
    [`${key} IS NULL`, ...infinite.map((time) => `${key} = ${time}`)].join(" OR ");
  const found = await queryRows(database, `SELECT 1 FROM timeKeys WHERE ${noTime("key")} LIMIT 1`);
  if (found.length === 0) return;
  const text = `coalesce(CAST(${column.id} AS VARCHAR), '')`;
  const { place, shown } = await firstRowWhere(relation, noTime(`(${keySql})`), text);
  if (shown === "") throw emptyKey(file, "time", column.name, place);
  throw timeInfinite(file, column.name, place);
}

/** DuckDB's values of infinite dates and timestamps. `epoch_us` returns null for them. */
function infiniteTimes(type: TimeType): bigint[] {
  if (type.kind === "integer") return [];
  const greatest = type.kind === "date" ? 2n ** 31n - 1n : 2n ** 63n - 1n;
  return [greatest, -greatest];
}

/** The type of all texts. @throws DataError for the first text that is not of the most frequent type. */
async function findTextType(relation: Relation, column: InputColumn, keySql: string): Promise<TimeType> {
  const candidates = await listTextTypes(relation);
  const counts = candidates.map((type) => `CAST(count(${textTimeSql("key", type)}) AS DOUBLE)`);
  const [row] = await queryRows(relation.database, `SELECT ${counts.join(", ")} FROM timeKeys`);
  const fitCounts = (row ?? []).map(Number);
  const best = fitCounts.indexOf(Math.max(...fitCounts));
  const type = candidates[best]!;
  const isWrong = (key: string) =>
    `(${textTimeSql(key, type)}) IS NULL${type.kind === "timestamp" ? ` OR ${isDateShapedSql(key)}` : ""}`;
  const wrong = await queryRows(relation.database, `SELECT 1 FROM timeKeys WHERE ${isWrong("key")} LIMIT 1`);
  if (wrong.length === 0) return type;
  const { place, shown } = await firstRowWhere(relation, isWrong(keySql), keySql);
  throw timeTextInvalid(relation.file, column.name, shown, place);
}

async function listTextTypes(relation: Relation): Promise<TimeType[]> {
  const [row] = await queryRows(
    relation.database,
    `SELECT bool_or(${hasNanosecondsSql("key")}) FROM timeKeys`,
  );
  const unit = row?.[0] === true ? "ns" : "us";
  return [
    { kind: "integer", bits: 64 },
    { kind: "date" },
    { kind: "timestamp", unit, timezone: null },
    { kind: "timestamp", unit, timezone: "UTC" },
  ];
}
