/** Users' DuckDB files: opens one at a time, and writes the rows of a query to Parquet. */
import { stat } from "node:fs/promises";
import { realPath } from "../../files/real_path.ts";
import { reasonOf } from "../../text/reason.ts";
import {
  type Database,
  openDatabase,
  queryRows,
  sqlInputPaths,
  sqlName,
  sqlText,
} from "../duckdb/database.ts";
import { isPlainError } from "../duckdb/relation.ts";
import { databaseBusy, databaseMissing, queryFailed } from "../errors.ts";
import { findPanelKeys } from "../panel/key_columns.ts";

export interface QueryRowsOptions {
  readonly timeColumn?: string | undefined;
  readonly symbolColumn?: string | undefined;
  /** Parquet files that earlier calls wrote, in order: only rows after their last time are new. */
  readonly earlier: readonly string[];
  /** True: rows without a time or a symbol are counted and left out, so that the others can be read. */
  readonly leaveOutIncomplete: boolean;
  /** Names the columns whose values must stay; asked only if any column beside the keys has changed. */
  readonly columnsRead: () => Promise<readonly string[]>;
}

/** A number of rows, with the first and the last of their times as texts. */
export interface MisplacedRows {
  readonly count: number;
  readonly firstTime: string;
  readonly lastTime: string;
}

export interface QueryRows {
  readonly rowCount: number;
  /** The last time of the earlier files, as text. */
  readonly lastTime: string | null;
  /** Rows up to that time that only the query has, and rows that only the files have. */
  readonly late: MisplacedRows;
  readonly vanished: MisplacedRows;
  /** Rows of the files that have other values in the query. */
  readonly changed: MisplacedRows;
  /** Rows that were left out. */
  readonly incompleteRowCount: number;
}

/**
 * Writes the query's new rows, if there are any, to a Parquet file in the order of time.
 *
 * @throws DataError E310 for a query that fails, E301 for a database that is missing; ResourceError E450 while another process
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
  const all = `(${query.trim().replace(/;+$/, "")}\n)`;
  return await inDatabase(databasePath, "READ_ONLY", async (database) => {
    const typeOf = await columnTypes(database, all);
    const names = [...typeOf.keys()];
    const keys = findPanelKeys(databasePath, names, options.timeColumn, options.symbolColumn);
    const time = sqlName(names[keys.time]!);
    const symbol = sqlName(names[keys.symbol]!);
    const isComplete = options.leaveOutIncomplete ? `${time} IS NOT NULL AND ${symbol} IS NOT NULL` : "true";
    const inner = `(FROM ${all} WHERE ${isComplete})`;
    const known = `read_parquet(${sqlInputPaths(options.earlier)}, hive_partitioning = false, union_by_name = true)`;
    await database.connection.run(
      options.earlier.length === 0
        ? "SET VARIABLE lastTime = NULL"
        : `SET VARIABLE lastTime = (SELECT max(${time}) FROM ${known})`,
    );
    // A row without a time is included: reading the file then reports it.
    const isNew = options.earlier.length === 0 ? "true" : `coalesce(${time} > getvariable('lastTime'), true)`;
    const [counts] = await queryRows(
      database,
      `SELECT CAST(count(*) FILTER (WHERE ${isNew}) AS DOUBLE),
         (SELECT CAST(count(*) FILTER (WHERE NOT (${isComplete})) AS DOUBLE) FROM ${all})
       FROM ${inner}`,
    );
    const [rowCount, incompleteRowCount] = (counts ?? []).map(Number) as [number, number];
    if (rowCount > 0)
      await database.connection.run(
        `COPY (SELECT * FROM ${inner} WHERE ${isNew} ORDER BY ${time}) TO ${sqlText(target)} (FORMAT parquet)`,
      );
    if (options.earlier.length === 0) return { rowCount, incompleteRowCount, lastTime: null, ...IN_PLACE };
    // Parquet stores such integers as doubles.
    const stored = (name: string) =>
      /HUGEINT/.test(typeOf.get(name) ?? "") ? `CAST(${sqlName(name)} AS DOUBLE)` : sqlName(name);
    const rowsOf = (rows: string, columns: readonly string[]) => {
      const values = columns.map((name, index) => `, ${stored(name)} AS v${index}`).join("");
      return `SELECT ${time} AS time, ${symbol} AS symbol${values} FROM ${rows}`;
    };
    const rows = {
      now: (columns: readonly string[]) => rowsOf(`${inner} WHERE NOT (${isNew})`, columns),
      before: (columns: readonly string[]) => rowsOf(known, columns),
    };
    const stayed = [...(await columnTypes(database, known)).keys()].filter((name) => typeOf.has(name));
    const misplaced = await misplacedRows(database, rows, stayed, options.columnsRead);
    return { rowCount, incompleteRowCount, ...misplaced };
  });
}

const NO_ROWS: MisplacedRows = { count: 0, firstTime: "", lastTime: "" };
const IN_PLACE = { late: NO_ROWS, vanished: NO_ROWS, changed: NO_ROWS } as const;

/** Rows up to the last time: queries of their keys and of the values of some columns. */
interface TakenRows {
  readonly now: (columns: readonly string[]) => string;
  readonly before: (columns: readonly string[]) => string;
}

/** The rows whose keys only one of the two has, repeated ones as often as they occur, and those with other values. */
async function misplacedRows(
  database: Database,
  { now, before }: TakenRows,
  columns: readonly string[],
  columnsRead: QueryRowsOptions["columnsRead"],
): Promise<Pick<QueryRows, "lastTime" | "late" | "vanished" | "changed">> {
  // Compares sums of hashes first, which need no table of all rows.
  const digest = (rows: string) => `(SELECT (count(*), sum(hash(*COLUMNS(*))::HUGEINT)) FROM (${rows}))`;
  const [row] = await queryRows(
    database,
    `SELECT CAST(getvariable('lastTime') AS VARCHAR),
       ${digest(now(columns))} IS NOT DISTINCT FROM ${digest(before(columns))}`,
  );
  const lastTime = String(row?.[0]);
  if (row?.[1] === true) return { lastTime, ...IN_PLACE };
  const read = await columnsRead();
  const values = columns.filter((name) => read.includes(name));
  const hasOther = `FROM (${before(values)} EXCEPT ALL ${now(values)}) SEMI JOIN (${now([])}) USING (time, symbol)`;
  return {
    lastTime,
    late: await countRows(database, `${now([])} EXCEPT ALL ${before([])}`),
    vanished: await countRows(database, `${before([])} EXCEPT ALL ${now([])}`),
    changed: await countRows(database, hasOther),
  };
}

async function countRows(database: Database, rows: string): Promise<MisplacedRows> {
  const [row] = await queryRows(
    database,
    `SELECT CAST(count(*) AS DOUBLE), CAST(min(time) AS VARCHAR), CAST(max(time) AS VARCHAR) FROM (${rows})`,
  );
  const [count, firstTime, lastTime] = row!;
  return { count: Number(count), firstTime: String(firstTime), lastTime: String(lastTime) };
}

/** The last requested use of each file. */
const uses = new Map<string, Promise<unknown>>();

/**
 * Runs work on a private database whose default tables are those of the file, one after the other: DuckDB's locks exclude
 * other processes, but a second use by this one damages the file.
 *
 * @throws DataError E310 for a query that fails; ResourceError E450 while another process writes to the database.
 */
export async function inDatabase<T>(
  path: string,
  access: "READ_ONLY" | "READ_WRITE",
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const key = realPath(path);
  const before = uses.get(key);
  const use = (async () => {
    await before;
    using database = await openDatabase();
    await attach(database, path, access);
    return await work(database).catch((error: unknown) => {
      throw isPlainError(error) ? queryFailed(path, reasonOf(error), error) : error;
    });
  })();
  const ended = use.catch(() => {});
  uses.set(key, ended);
  try {
    return await use;
  } finally {
    if (uses.get(key) === ended) uses.delete(key);
  }
}

async function attach({ connection }: Database, path: string, access: string): Promise<void> {
  try {
    await connection.run(`ATTACH ${sqlText(path)} AS file (${access}); USE file`);
  } catch (error) {
    if (error instanceof Error && /lock/i.test(error.message)) throw databaseBusy(path, error);
    throw queryFailed(path, reasonOf(error), error);
  }
}

/** The types of the columns of a query by their names. */
export async function columnTypes(database: Database, rows: string): Promise<ReadonlyMap<string, string>> {
  const columns = await queryRows(database, `SELECT column_name, column_type FROM (DESCRIBE FROM ${rows})`);
  return new Map(columns.map(([name, type]) => [String(name), String(type)]));
}
