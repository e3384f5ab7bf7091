/** The rows of the panel: the distinct times of a relation. */
import type { TimeColumn, TimeType } from "../panel.ts";
import { queryRows } from "./database.ts";
import { columnTypeUnusable, emptyKey, noRows, timeTextInvalid } from "./errors.ts";
import { firstRowWhere, type InputColumn, type Relation } from "./relation.ts";
import { hasNanosecondsSql, textTimeSql } from "./time_sql.ts";

export interface PanelTimes {
  readonly column: TimeColumn;
  /** Key of a row: an expression over `raw` that equals `times.key`; the table `times` holds `(key, time, panelRow)`. */
  readonly keySql: string;
  /**
   * The same in a form that is quickly read: the time itself as a BIGINT, or for times that are text an INTEGER code;
   * `panelRowOfCode` gives the panel row of each code, null if there are none. Either ascends with time.
   */
  readonly rankSql: string;
  readonly panelRowOfCode: Int32Array | null;
}

/**
 * Creates the table `times` with one line per distinct time and gives the panel's time column. Times that are text
 * stay text as keys, so that each distinct text is read once and not once per row.
 *
 * @throws DataError E315, E316, E321 for a column that holds no times, for text that is no time, for an empty time.
 */
export async function createTimes(relation: Relation): Promise<PanelTimes> {
  const { database } = relation;
  const column = relation.columns[relation.keys.time ?? -1];
  if (column === undefined) throw noRows(relation.file);
  if (column.time === null && column.kind !== "text") {
    throw columnTypeUnusable(relation.file, "time", column.name, column.typeName);
  }
  const keySql = column.time?.sql ?? `nullif(CAST(${column.id} AS VARCHAR), '')`;
  await createKeys(relation, column, keySql);
  const type = column.time?.type ?? (await findTextType(relation, column, keySql));
  const timeSql = column.time === null ? textTimeSql("key", type) : "key";
  await database.connection.run(
    `CREATE TEMP TABLE times AS
     SELECT key, ${timeSql} AS time, dense_rank() OVER (ORDER BY ${timeSql}) - 1 AS panelRow FROM timeKeys`,
  );
  const rows = await queryRows(database, "SELECT DISTINCT time FROM times ORDER BY time");
  const values = BigInt64Array.from(rows, ([time]) => time as bigint);
  const ranks =
    column.time === null ? await rankTexts(relation, keySql) : { rankSql: keySql, panelRowOfCode: null };
  return { column: { name: column.name, type, values }, keySql, ...ranks };
}

/** The codes of an ENUM of the texts in the order of their times. */
async function rankTexts(
  { database }: Relation,
  keySql: string,
): Promise<Pick<PanelTimes, "rankSql" | "panelRowOfCode">> {
  const order = "ORDER BY panelRow, key";
  await database.connection.run(`CREATE TYPE timeTexts AS ENUM (SELECT key FROM times ${order})`);
  const rows = await queryRows(database, `SELECT CAST(panelRow AS DOUBLE) FROM times ${order}`);
  return {
    rankSql: `CAST(enum_code(CAST(${keySql} AS timeTexts)) AS INTEGER)`,
    panelRowOfCode: Int32Array.from(rows, ([panelRow]) => Number(panelRow)),
  };
}

async function createKeys(relation: Relation, column: InputColumn, keySql: string): Promise<void> {
  const { database } = relation;
  await database.connection.run(`CREATE TEMP TABLE timeKeys AS SELECT DISTINCT ${keySql} AS key FROM raw`);
  const empty = await queryRows(database, "SELECT 1 FROM timeKeys WHERE key IS NULL");
  if (empty.length === 0) return;
  const { place } = await firstRowWhere(relation, `(${keySql}) IS NULL`, "''");
  throw emptyKey(relation.file, "time", column.name, place);
}

/** The type that all texts have; when none fits all, the first row that does not fit the one that fits most. */
async function findTextType(relation: Relation, column: InputColumn, keySql: string): Promise<TimeType> {
  const candidates = await listTextTypes(relation);
  const counts = candidates.map((type) => `CAST(count(${textTimeSql("key", type)}) AS DOUBLE)`);
  const [row] = await queryRows(
    relation.database,
    `SELECT CAST(count(*) AS DOUBLE), ${counts.join(", ")} FROM timeKeys`,
  );
  const [keyCount, ...fitCounts] = (row ?? []).map(Number);
  const best = fitCounts.indexOf(Math.max(...fitCounts));
  const type = candidates[best]!;
  if (fitCounts[best] === keyCount) return type;
  const { place, shown } = await firstRowWhere(relation, `(${textTimeSql(keySql, type)}) IS NULL`, keySql);
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
