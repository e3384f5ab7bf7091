/**
 * The lock of a folder of journals: an exclusive transaction on an SQLite database made for it. The operating system
 * holds it: it works across containers that share a volume, and ends with the process, however that ends.
 *
 * Only this file may open the database: on POSIX systems a process loses its lock when it closes any handle of the file.
 */
import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeDurableFolder } from "../../files/durable.ts";
import { journalLocked, lockFails } from "../errors.ts";

/** Names of jobs, whose folders lie beside it, do not start with a dot. */
const LOCK_NAME = ".lock.sqlite";
/** Holds the id of the process with the lock, for messages only. */
const HOLDER_NAME = ".lock.pid";

/** `lockHolder` takes the lock for a moment. */
const WAIT_MS = 200;

/** Low byte of SQLite's extended codes. */
const SQLITE_BUSY = 5;

export class JournalLock {
  readonly #folder: string;
  readonly #database: DatabaseSync;

  /** @throws ResourceError E450 if another process or lock holds it, E460 if the lock fails. */
  static async take(folder: string): Promise<JournalLock> {
    await makeDurableFolder(folder);
    const database = begin(join(folder, LOCK_NAME), "BEGIN EXCLUSIVE", WAIT_MS);
    if (database === null) throw journalLocked(folder, await readHolder(folder));
    const lock = new JournalLock(folder, database);
    try {
      await writeFile(join(folder, HOLDER_NAME), String(process.pid));
    } catch (error) {
      await lock.release();
      throw error;
    }
    return lock;
  }

  private constructor(folder: string, database: DatabaseSync) {
    this.#folder = folder;
    this.#database = database;
  }

  async release(): Promise<void> {
    // The lock ends, whether this file can be removed or not.
    await rm(join(this.#folder, HOLDER_NAME), { force: true }).catch(() => {});
    this.#database.close();
  }
}

/** Id of the process that runs the jobs of a folder; null if the folder is not locked. */
export async function lockHolder(folder: string): Promise<number | null> {
  const path = join(folder, LOCK_NAME);
  if (!existsSync(path)) return null;
  const database = begin(path, "BEGIN; SELECT * FROM sqlite_schema", 0);
  database?.close();
  return database === null ? await readHolder(folder) : null;
}

/** Opens a database with a transaction; null if another transaction excludes it. */
function begin(path: string, transaction: string, timeout: number): DatabaseSync | null {
  let database: DatabaseSync | null = null;
  try {
    database = new DatabaseSync(path, { timeout });
    database.exec(transaction);
    return database;
  } catch (error) {
    database?.close();
    if (((error as { errcode?: number }).errcode! & 0xff) === SQLITE_BUSY) return null;
    throw lockFails(path, error);
  }
}

async function readHolder(folder: string): Promise<number> {
  return Number(await readFile(join(folder, HOLDER_NAME), "utf8").catch(() => 0));
}
