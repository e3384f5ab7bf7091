/** A private in-memory DuckDB, closed by `using`. */
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DuckDBConnection, DuckDBInstance, type DuckDBValue } from "@duckdb/node-api";
import { machineMemoryBytes } from "../../limits.ts";

export interface Database extends Disposable {
  readonly connection: DuckDBConnection;
  /** DuckDB's memory limit; beyond it, it spills. */
  readonly memoryBytes: number;
  /** Marks the instance as not reusable, because something in it cannot be removed. */
  retire(): void;
}

export interface DatabaseLimits {
  readonly memoryBytes: number;
  /** Default: one per core. */
  readonly threads?: number | undefined;
}

/** DuckDB's own default. */
const MEMORY_SHARE_DEFAULT = 0.8;

let startedCount = 0;

/**
 * Opens a database that never touches the network, counts times in UTC, and spills, if it must, into a folder of
 * the system's temporary directory that is removed on disposal.
 */
export async function openDatabase(limits?: DatabaseLimits): Promise<Database> {
  const instance = await startInstance(limits);
  return await connectTo(instance, () => instance.stop());
}

/** A DuckDB with its threads and its folder for spilled data. */
interface Instance {
  readonly duckdb: DuckDBInstance;
  readonly memoryBytes: number;
  stop(): void;
}

async function startInstance(limits: DatabaseLimits | undefined): Promise<Instance> {
  startedCount += 1;
  const memoryBytes = limits?.memoryBytes ?? MEMORY_SHARE_DEFAULT * machineMemoryBytes();
  const spillFolder = join(tmpdir(), `factorloom-${process.pid}-${startedCount}`);
  const duckdb = await DuckDBInstance.create(":memory:", {
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
    temp_directory: spillFolder,
    ...(limits === undefined ? {} : limitSettings(limits)),
  });
  const stop = () => {
    duckdb.closeSync();
    rmSync(spillFolder, { recursive: true, force: true });
  };
  return { duckdb, memoryBytes, stop };
}

async function connectTo(
  { duckdb, memoryBytes }: Instance,
  onClosed: (isRetired: boolean) => void,
): Promise<Database> {
  const connection = await duckdb.connect();
  await connection.run("SET TimeZone = 'UTC'");
  let [isOpen, isRetired] = [true, false];
  return {
    connection,
    memoryBytes,
    retire: () => {
      isRetired = true;
    },
    [Symbol.dispose]() {
      if (!isOpen) return;
      isOpen = false;
      connection.closeSync();
      onClosed(isRetired);
    },
  };
}

/** How databases are opened. */
export type OpenDatabase = (limits?: DatabaseLimits) => Promise<Database>;

/**
 * Opens databases one after the other without starting DuckDB for each, which takes 11 of the 35 ms for opening and reading
 * a file of 20 rows. An open database has an instance for itself and sees nothing of earlier ones: names are temporary, or
 * belong to a new catalog.
 */
export class ReusedDatabases implements Disposable {
  readonly #idle: { readonly instance: Instance; readonly key: string }[] = [];
  #usedCount = 0;
  #isOpen = true;

  /** As `openDatabase`. */
  readonly open: OpenDatabase = async (limits) => {
    const key = JSON.stringify(limits);
    const index = this.#idle.findIndex((idle) => idle.key === key);
    const [found] = index < 0 ? [] : this.#idle.splice(index, 1);
    const instance = found?.instance ?? (await startInstance(limits));
    const catalog = `use${++this.#usedCount}`;
    const database = await connectTo(instance, (isRetired) => {
      if (this.#isOpen && !isRetired) this.#idle.push({ instance, key });
      else instance.stop();
    });
    try {
      await giveCatalog(database, catalog, limits?.threads);
      return database;
    } catch (error) {
      database.retire();
      database[Symbol.dispose]();
      throw error;
    }
  };

  [Symbol.dispose](): void {
    this.#isOpen = false;
    for (const { instance } of this.#idle.splice(0)) instance.stop();
  }
}

/** Creates a catalog for what is not temporary, e.g. types, and removes those of earlier databases. */
async function giveCatalog(database: Database, catalog: string, threads: number | undefined): Promise<void> {
  const names = await queryRows(database, "SELECT database_name FROM duckdb_databases() WHERE NOT internal");
  const old = names.filter(([name]) => name !== "memory").map(([name]) => `DETACH ${name};`);
  // Sorting rows changes the number of threads of the instance.
  const reset = threads === undefined ? "RESET threads" : `SET threads = ${threads}`;
  await database.connection.run(`${old.join("")} ${reset}; ATTACH ':memory:' AS ${catalog}; USE ${catalog}`);
}

function limitSettings({ memoryBytes, threads }: DatabaseLimits): Record<string, string> {
  // DuckDB counts bytes in 64 bits.
  const memory = { memory_limit: `${Math.floor(Math.min(memoryBytes, Number.MAX_SAFE_INTEGER) / 1024)}KiB` };
  return threads === undefined ? memory : { ...memory, threads: String(threads) };
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

/** The path as a literal for DuckDB's readers, which treat `*`, `?` and `[` as patterns unless escaped. */
export function sqlInputPath(absolutePath: string): string {
  return sqlText(absolutePath.replaceAll(/[*?[]/g, "[$&]"));
}

/** A list of paths. */
export function sqlInputPaths(absolutePaths: readonly string[]): string {
  return `[${absolutePaths.map(sqlInputPath).join(", ")}]`;
}
