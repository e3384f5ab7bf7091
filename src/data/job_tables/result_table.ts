/** Tables of results in DuckDB files: adds rows in transactions, and verifies them by digests. */
import { stat } from "node:fs/promises";
import { reasonOf } from "../../text/reason.ts";
import {
  type Database,
  openDatabase,
  queryRows,
  sqlInputPath,
  sqlName,
  sqlText,
} from "../duckdb/database.ts";
import { databaseRefuses } from "../errors.ts";
import { columnTypes, inDatabase } from "./database_file.ts";

/** The table with the position of each journal, in the same database as the results. */
const POSITIONS = "factorloom_results";
const POSITIONS_TABLE = `CREATE TABLE IF NOT EXISTS ${POSITIONS} (
  journal VARCHAR, result VARCHAR, sequence BIGINT, PRIMARY KEY (journal, result))`;

/** A table and the journal that fills it. */
export interface ResultTable {
  readonly database: string;
  readonly table: string;
  readonly journal: string;
  /** The time, the symbol, the factors. */
  readonly columns: readonly string[];
}

/** A digest of rows that does not depend on their order or the release of DuckDB. */
export interface RowsDigest {
  readonly count: number;
  /** Sum of 64 bits of the MD5 of each row's text. */
  readonly sum: string;
  /** The first time, and the type of all times, as DuckDB writes them. */
  readonly from: string;
  readonly timeType: string;
}

/** The digest of the rows of a Parquet file. */
export async function digestOfRows(file: string, columns: readonly string[]): Promise<RowsDigest> {
  using database = await openDatabase();
  const time = sqlName(columns[0]!);
  const [row] = await queryRows(
    database,
    `SELECT ${digestSql(columns)}, CAST(min(${time}) AS VARCHAR), typeof(min(${time}))
     FROM read_parquet(${sqlInputPath(file)}, hive_partitioning = false)`,
  );
  const [count, sum, from, timeType] = row!;
  return { count: Number(count), sum: String(sum), from: String(from), timeType: String(timeType) };
}

/** The symbol, which may be any text, is last, so that different rows have different texts. */
function digestSql([time, symbol, ...factors]: readonly string[]): string {
  const parts = [time!, ...factors].map((name) => `coalesce(CAST(${sqlName(name)} AS VARCHAR), ''), '|'`);
  const text = `concat(${parts.join(", ")}, ${sqlName(symbol!)})`;
  return `CAST(count(*) AS DOUBLE), CAST(coalesce(sum(md5_number_lower(${text})), 0) AS VARCHAR)`;
}

/**
 * Adds the rows of a Parquet file to the table by the names of their columns, and the new position, in one
 * transaction. Does nothing unless the journal is at the previous position; creates the table for the first one.
 *
 * @returns the position afterwards.
 * @throws ResourceError E450 while another process uses the database, E442 if it refuses the rows.
 */
export async function appendToTable(target: ResultTable, file: string, sequence: number): Promise<number> {
  const table = sqlName(target.table);
  const rows = `FROM read_parquet(${sqlInputPath(file)}, hive_partitioning = false)`;
  return await atNextPosition(target, sequence, async (database) => {
    const { connection } = database;
    const position = await positionOf(database, target);
    if (position !== sequence - 1) return position;
    if (sequence === 1) await connection.run(`CREATE TABLE ${table} AS ${rows} LIMIT 0`);
    await connection.run(`INSERT INTO ${table} BY NAME ${rows}`);
    return sequence;
  });
}

/** Changes a table and the position of its journal in one transaction, if the work gives the new position. */
async function atNextPosition(
  target: ResultTable,
  sequence: number,
  work: (database: Database) => Promise<number>,
): Promise<number> {
  return await inDatabase(target.database, "READ_WRITE", async (database) => {
    const { connection } = database;
    try {
      await connection.run("BEGIN");
      await connection.run(POSITIONS_TABLE);
      const position = await work(database);
      if (position !== sequence) return position;
      const row = `${sqlText(target.journal)}, ${sqlText(target.table)}, ${sequence}`;
      await connection.run(`INSERT OR REPLACE INTO ${POSITIONS} VALUES (${row})`);
      await connection.run("COMMIT");
      return sequence;
    } catch (error) {
      throw databaseRefuses(target.database, reasonOf(error), error);
    }
  });
}

/** Writes the rows of a table, in the order of their times, to a Parquet file. @throws as `tableState`. */
export async function copyTable({ database, table, columns }: ResultTable, file: string): Promise<void> {
  const names = columns.map(sqlName);
  const rows = `SELECT ${names.join(", ")} FROM ${sqlName(table)} ORDER BY ${names.slice(0, 2).join(", ")}`;
  await inDatabase(database, "READ_ONLY", (opened) =>
    opened.connection.run(`COPY (${rows}) TO ${sqlText(file)} (FORMAT parquet)`),
  );
}

/**
 * Gives a table the rows of a Parquet file: adds its columns, drops those that it lacks, changes rows that it has, removes
 * the others, and adds new ones. Columns of its users stay. Does nothing unless the journal is at the previous position.
 *
 * @param columns those of the file; `before` has those of the table
 * @returns the position afterwards.
 * @throws as `appendToTable`.
 */
export async function replaceRows(
  before: ResultTable,
  columns: readonly string[],
  file: string,
  sequence: number,
): Promise<number> {
  const table = sqlName(before.table);
  const rows = `read_parquet(${sqlInputPath(file)}, hive_partitioning = false)`;
  const [time, symbol, ...factors] = columns.map(sqlName);
  const isSame = `old.${time} = new.${time} AND old.${symbol} = new.${symbol}`;
  const added = columns.filter((name) => !before.columns.includes(name));
  const dropped = before.columns.filter((name) => !columns.includes(name));
  // A table that has been altered can be updated in one transaction, not the other way round.
  const statements = [
    ...dropped.map((name) => `ALTER TABLE ${table} DROP COLUMN ${sqlName(name)}`),
    ...added.map((name) => `ALTER TABLE ${table} ADD COLUMN ${sqlName(name)} DOUBLE`),
    `DELETE FROM ${table} old WHERE NOT EXISTS (SELECT 1 FROM ${rows} new WHERE ${isSame})`,
    ...(factors.length === 0
      ? []
      : [
          `UPDATE ${table} old SET ${factors.map((name) => `${name} = new.${name}`).join(", ")} FROM ${rows} new WHERE ${isSame}`,
        ]),
    `INSERT INTO ${table} BY NAME FROM ${rows} new WHERE NOT EXISTS (SELECT 1 FROM ${table} old WHERE ${isSame})`,
  ];
  return await atNextPosition(before, sequence, async (database) => {
    const position = await positionOf(database, before);
    if (position !== sequence - 1) return position;
    for (const statement of statements) await database.connection.run(statement);
    return sequence;
  });
}

/**
 * Makes a table again of the rows of a Parquet file, whatever it holds, and makes it that of the journal. Columns of its users
 * stay where it has the rows.
 *
 * @param columns those of the file; `before` has those that the table may have, too
 * @returns the position afterwards.
 * @throws as `appendToTable`.
 */
export async function replaceTable(
  before: ResultTable,
  columns: readonly string[],
  file: string,
  sequence: number,
): Promise<number> {
  const table = sqlName(before.table);
  const rows = `read_parquet(${sqlInputPath(file)}, hive_partitioning = false)`;
  const keys = columns.slice(0, 2);
  return await atNextPosition(before, sequence, async (database) => {
    const { connection } = database;
    const isThere = await findTable(database, before.table);
    const there = isThere ? [...(await columnTypes(database, table)).keys()] : [];
    const own = there.filter((name) => !columns.includes(name) && !before.columns.includes(name));
    const isKept = own.length > 0 && keys.every((name) => there.includes(name));
    const on = keys.map(sqlName).join(", ");
    const kept = isKept
      ? ` LEFT JOIN (SELECT DISTINCT ON (${on}) ${[...keys, ...own].map(sqlName)} FROM ${table}) USING (${on})`
      : "";
    await connection.run(`CREATE OR REPLACE TABLE ${table} AS FROM ${rows}${kept}`);
    await connection.run(`DELETE FROM ${POSITIONS} WHERE result = ${sqlText(before.table)}`);
    return sequence;
  });
}

async function positionOf(database: Database, { journal, table }: ResultTable): Promise<number> {
  const rows = await queryRows(
    database,
    `SELECT CAST(sequence AS DOUBLE) FROM ${POSITIONS}
     WHERE journal = ${sqlText(journal)} AND result = ${sqlText(table)}`,
  );
  return Number(rows[0]?.[0] ?? 0);
}

/** True if the database has a table or view of the name; names are case-insensitive in DuckDB. */
export async function hasTable(databasePath: string, table: string): Promise<boolean> {
  if (!(await stat(databasePath).catch(() => null))) return false;
  return await inDatabase(databasePath, "READ_ONLY", (database) => findTable(database, table));
}

async function findTable(database: Database, table: string): Promise<boolean> {
  const rows = await queryRows(
    database,
    `SELECT 1 FROM information_schema.tables WHERE table_catalog = 'file' AND table_schema = 'main'
     AND lower(table_name) = lower(${sqlText(table)})`,
  );
  return rows.length > 0;
}

export interface TableState {
  /** Last input of the journal whose rows it has. */
  readonly position: number;
  readonly count: number;
  /** By name. */
  readonly types: ReadonlyMap<string, string>;
}

/** The state of a table in an open database; null if it is missing. */
export async function tableState(database: Database, target: ResultTable): Promise<TableState | null> {
  if (!(await findTable(database, target.table))) return null;
  const table = sqlName(target.table);
  const [row] = await queryRows(database, `SELECT CAST(count(*) AS DOUBLE) FROM ${table}`);
  return {
    position: (await findTable(database, POSITIONS)) ? await positionOf(database, target) : 0,
    count: Number(row?.[0]),
    types: await columnTypes(database, table),
  };
}

/** Count and sum of the rows in each range from one of the ascending times to the next one. */
export async function digestsOfRanges(
  database: Database,
  target: ResultTable,
  ranges: readonly RowsDigest[],
): Promise<readonly Pick<RowsDigest, "count" | "sum">[]> {
  const time = sqlName(target.columns[0]!);
  const starts = ranges.map(
    ({ from, timeType }, index) => `(${index}, CAST(${sqlText(from)} AS ${timeType}))`,
  );
  const rows = await queryRows(
    database,
    `WITH starts (range_number, range_start) AS (VALUES ${starts.join(", ")})
     SELECT range_number, ${digestSql(target.columns)}
     FROM ${sqlName(target.table)} ASOF JOIN starts ON ${time} >= range_start
     WHERE ${time} >= CAST(${sqlText(ranges[0]!.from)} AS ${ranges[0]!.timeType}) GROUP BY range_number`,
  );
  const found = new Map(
    rows.map(([index, count, sum]) => [Number(index), { count: Number(count), sum: String(sum) }]),
  );
  return ranges.map((_, index) => found.get(index) ?? { count: 0, sum: "0" });
}
