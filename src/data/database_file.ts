/** Tables and queries of DuckDB files: rows out into Parquet, results in, each in one transaction. */
import { stat } from "node:fs/promises";
import {
  type Database,
  openDatabase,
  queryRows,
  reasonOf,
  sqlInputPath,
  sqlName,
  sqlText,
} from "./database.ts";
import { databaseBusy, databaseMissing, databaseRefuses, queryFailed } from "./errors.ts";
import { findPanelKeys } from "./key_columns.ts";

/** Table in which a database keeps how far each job has come, beside the job's rows. */
const POSITIONS = "factorloom_positions";

export interface QueryRowsOptions {
  readonly timeColumn?: string | undefined;
  readonly symbolColumn?: string | undefined;
  /** Parquet files that earlier calls wrote, in order: only rows after their last time are new. */
  readonly earlier: readonly string[];
}

export interface QueryRows {
  readonly rowCount: number;
  /** Rows that the query has for times of earlier files, and rows that these have. */
  readonly earlierRowCount: number;
  readonly knownRowCount: number;
}

/**
 * Writes the query's new rows, in the order of time, to a Parquet file. No file is written where there are none.
 *
 * @throws DataError E307 for a query that fails or a database that is missing; ResourceError E446 while another process
 *   writes to the database.
 */
export async function writeQueryRows(
  databasePath: string,
  query: string,
  target: string,
  options: QueryRowsOptions,
): Promise<QueryRows> {
  await stat(databasePath).catch(() => {
    throw databaseMissing(databasePath);
  });
  return await exclusively(databasePath, () => copyNewRows(databasePath, query, target, options));
}

async function copyNewRows(
  databasePath: string,
  query: string,
  target: string,
  options: QueryRowsOptions,
): Promise<QueryRows> {
  using database = await attach(databasePath, true);
  const inner = `(${query.trim().replace(/;+$/, "")}\n)`;
  return await asking(databasePath, async () => {
    const described = await queryRows(database, `SELECT column_name FROM (DESCRIBE FROM ${inner})`);
    const names = described.map(([name]) => String(name));
    const keys = findPanelKeys(databasePath, names, options.timeColumn, options.symbolColumn);
    const time = sqlName(names[keys.time ?? 0] as string);
    const files = `[${options.earlier.map(sqlInputPath).join(", ")}]`;
    await database.connection.run(
      options.earlier.length === 0
        ? "SET VARIABLE lastTime = NULL"
        : `SET VARIABLE lastTime = (SELECT max(${time}) FROM read_parquet(${files}, hive_partitioning = false))`,
    );
    // A row without a time is not passed over: it is told of when the file is read.
    const isNew = options.earlier.length === 0 ? "true" : `coalesce(${time} > getvariable('lastTime'), true)`;
    const [counts] = await queryRows(
      database,
      `SELECT CAST(count(*) FILTER (WHERE ${isNew}) AS DOUBLE), CAST(count(*) FILTER (WHERE NOT (${isNew})) AS DOUBLE)
       FROM ${inner}`,
    );
    const [rowCount, earlierRowCount] = (counts ?? []).map(Number) as [number, number];
    if (rowCount > 0)
      await database.connection.run(
        `COPY (SELECT * FROM ${inner} WHERE ${isNew} ORDER BY ${time}) TO ${sqlText(target)} (FORMAT parquet)`,
      );
    return { rowCount, earlierRowCount, knownRowCount: await countRows(database, options.earlier) };
  });
}

async function countRows(database: Database, files: readonly string[]): Promise<number> {
  if (files.length === 0) return 0;
  const list = `[${files.map(sqlInputPath).join(", ")}]`;
  const [row] = await queryRows(
    database,
    `SELECT CAST(count(*) AS DOUBLE) FROM read_parquet(${list}, hive_partitioning = false)`,
  );
  return Number(row?.[0]);
}

/** How far a job has come in a database: the number of its last input there. */
export interface TablePosition {
  readonly job: string;
  readonly sequence: number;
}

/**
 * Adds the rows of Parquet files to a table, creates it if need be, and notes the position, in one transaction. Does
 * nothing if the position stands there already.
 *
 * @throws ResourceError E446 while another process uses the database, E447 if it refuses the rows.
 */
export async function appendToTable(
  databasePath: string,
  table: string,
  files: readonly string[],
  position: TablePosition,
): Promise<void> {
  await exclusively(databasePath, () => appendRows(databasePath, table, files, position));
}

async function appendRows(
  databasePath: string,
  table: string,
  files: readonly string[],
  { job, sequence }: TablePosition,
): Promise<void> {
  using database = await attach(databasePath, false);
  const { connection } = database;
  try {
    await connection.run("BEGIN");
    await connection.run(
      `CREATE TABLE IF NOT EXISTS ${POSITIONS} (job VARCHAR PRIMARY KEY, sequence BIGINT)`,
    );
    const known = await queryRows(
      database,
      `SELECT CAST(sequence AS DOUBLE) FROM ${POSITIONS} WHERE job = ${sqlText(job)}`,
    );
    if (Number(known[0]?.[0] ?? 0) >= sequence) return;
    for (const file of files) {
      const rows = `FROM read_parquet(${sqlInputPath(file)}, hive_partitioning = false)`;
      await connection.run(`CREATE TABLE IF NOT EXISTS ${sqlName(table)} AS ${rows} LIMIT 0`);
      await connection.run(`INSERT INTO ${sqlName(table)} ${rows}`);
    }
    await connection.run(`INSERT OR REPLACE INTO ${POSITIONS} VALUES (${sqlText(job)}, ${sequence})`);
    await connection.run("COMMIT");
  } catch (error) {
    throw databaseRefuses(databasePath, reasonOf(error), error);
  }
}

/** True if the database has the table. */
export async function hasTable(databasePath: string, table: string): Promise<boolean> {
  if (!(await stat(databasePath).catch(() => null))) return false;
  return await exclusively(databasePath, () => findTable(databasePath, table));
}

async function findTable(databasePath: string, table: string): Promise<boolean> {
  using database = await attach(databasePath, true);
  const rows = await queryRows(
    database,
    `SELECT 1 FROM duckdb_tables() WHERE database_name = 'file' AND table_name = ${sqlText(table)}`,
  );
  return rows.length > 0;
}

/** For each file the last use that was asked for. */
const uses = new Map<string, Promise<unknown>>();

/** The system's locks keep other processes away, but not a second database of this one, which would damage the file. */
async function exclusively<T>(path: string, work: () => Promise<T>): Promise<T> {
  const before = uses.get(path);
  const use = (async () => {
    await before;
    return await work();
  })();
  const ended = use.catch(() => {});
  uses.set(path, ended);
  try {
    return await use;
  } finally {
    if (uses.get(path) === ended) uses.delete(path);
  }
}

/** A database of our own whose default tables are those of the file. */
async function attach(path: string, isReadOnly: boolean): Promise<Database> {
  const database = await openDatabase();
  try {
    await database.connection.run(`ATTACH ${sqlText(path)} AS file${isReadOnly ? " (READ_ONLY)" : ""}`);
    await database.connection.run("USE file");
    return database;
  } catch (error) {
    database[Symbol.dispose]();
    if (error instanceof Error && /lock/i.test(error.message)) throw databaseBusy(path, error);
    throw queryFailed(path, reasonOf(error), error);
  }
}

async function asking<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (Object.getPrototypeOf(error) !== Error.prototype) throw error;
    throw queryFailed(path, reasonOf(error), error);
  }
}
