/** An in-memory DuckDB of our own, closed by `using`. */
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DuckDBConnection, DuckDBInstance, type DuckDBValue } from "@duckdb/node-api";

export interface Database extends Disposable {
  readonly connection: DuckDBConnection;
}

let openedCount = 0;

/**
 * Opens a database that never touches the network, counts times in UTC, and spills, if it must, into a folder of
 * the system's temporary directory that is removed on disposal.
 */
export async function openDatabase(): Promise<Database> {
  openedCount += 1;
  const spillFolder = join(tmpdir(), `factorloom-${process.pid}-${openedCount}`);
  const instance = await DuckDBInstance.create(":memory:", {
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
    temp_directory: spillFolder,
  });
  const connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
  return {
    connection,
    [Symbol.dispose]() {
      connection.closeSync();
      instance.closeSync();
      rmSync(spillFolder, { recursive: true, force: true });
    },
  };
}

/** All rows of a small result, as arrays of DuckDB values (BIGINT is bigint, NULL is null). */
export async function queryRows(database: Database, sql: string): Promise<DuckDBValue[][]> {
  const reader = await database.connection.runAndReadAll(sql);
  return reader.getRows();
}

/** The text as an SQL literal. */
export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** The name as an SQL identifier. */
export function sqlName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The path as a literal for DuckDB's readers, which would otherwise take `*`, `?` and `[` as patterns. */
export function sqlInputPath(absolutePath: string): string {
  return sqlText(absolutePath.replaceAll(/[*?[]/g, "[$&]"));
}

/** First line of what DuckDB says, without the kind of error and without the file name: the reason of ours. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const line = text.split("\n", 1)[0] ?? "";
  return line.replace(/^[A-Za-z ]+ Error: /, "").replace(/ '\/[^']*'|:? "\/[^"]*"|: \/.*$/g, "");
}
