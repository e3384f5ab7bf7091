/** An in-memory DuckDB of our own, closed by `using`. */
import { rmSync } from "node:fs";
import { tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { type DuckDBConnection, DuckDBInstance, type DuckDBValue } from "@duckdb/node-api";

export interface Database extends Disposable {
  readonly connection: DuckDBConnection;
  /** What DuckDB may hold in memory; beyond it, it spills. */
  readonly memoryBytes: number;
}

export interface DatabaseLimits {
  readonly memoryBytes: number;
  /** Default: one per core. */
  readonly threads?: number | undefined;
}

/** DuckDB's own default. */
const MEMORY_SHARE_DEFAULT = 0.8;

let openedCount = 0;

/**
 * Opens a database that never touches the network, counts times in UTC, and spills, if it must, into a folder of
 * the system's temporary directory that is removed on disposal.
 */
export async function openDatabase(limits?: DatabaseLimits): Promise<Database> {
  openedCount += 1;
  const memoryBytes = limits?.memoryBytes ?? MEMORY_SHARE_DEFAULT * machineMemoryBytes();
  const spillFolder = join(tmpdir(), `factorloom-${process.pid}-${openedCount}`);
  const instance = await DuckDBInstance.create(":memory:", {
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
    temp_directory: spillFolder,
    ...(limits === undefined ? {} : limitSettings(limits)),
  });
  const connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
  let isOpen = true;
  return {
    connection,
    memoryBytes,
    [Symbol.dispose]() {
      if (!isOpen) return;
      isOpen = false;
      connection.closeSync();
      instance.closeSync();
      rmSync(spillFolder, { recursive: true, force: true });
    },
  };
}

function limitSettings({ memoryBytes, threads }: DatabaseLimits): Record<string, string> {
  const memory = { memory_limit: `${Math.floor(memoryBytes / 1024)}KiB` };
  return threads === undefined ? memory : { ...memory, threads: String(threads) };
}

/** Memory of the machine, or of the container that we are in. */
export function machineMemoryBytes(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
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

/** Several of them. */
export function sqlInputPaths(absolutePaths: readonly string[]): string {
  return `[${absolutePaths.map(sqlInputPath).join(", ")}]`;
}

/** First line of what DuckDB says, without the kind of error and without the file name: the reason of ours. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const line = text.split("\n", 1)[0] ?? "";
  return line.replace(/^[A-Za-z ]+ Error: /, "").replace(/ '\/[^']*'|:? "\/[^"]*"|: \/.*$/g, "");
}
