/**
 * The database of a ledger. A table has JSON records, found by key or in the order in which they came. SQLite has no checksums:
 * each row has one, so that what the disk or another program changed is found when the row is read.
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { crc32 } from "node:zlib";
import { ledgerDamaged, ledgerFails } from "../errors.ts";

/** A reader and a writer wait for each other. */
const WAIT_MS = 5_000;
/** Rows that are read at a time: no longer does a writer wait. */
const PAGE_ROWS = 1_000;

/** @throws in all methods DataError E360 for damage; ResourceError E442 for what the system refuses, E450 after waiting. */
export class LedgerFile {
  readonly path: string;
  readonly #database: DatabaseSync;

  /** @param mode of SQLite: `rw` for a file that exists, `rwc` for a new one, `memory` for none */
  constructor(path: string, mode: "rw" | "rwc" | "memory") {
    this.path = path;
    const url = pathToFileURL(path);
    url.search = `mode=${mode}`;
    try {
      this.#database = new DatabaseSync(url, { timeout: WAIT_MS });
    } catch (error) {
      throw ledgerFails(path, error);
    }
  }

  use<T>(work: (database: DatabaseSync) => T): T {
    try {
      return work(this.#database);
    } catch (error) {
      throw ledgerFails(this.path, error);
    }
  }

  exec(sql: string): void {
    this.use((database) => database.exec(sql));
  }

  /** The first value of the first row. */
  value(sql: string): unknown {
    return this.use((database) => Object.values(database.prepare(sql).get()!)[0]);
  }

  /** Does all of the work or nothing of it, on one state of the file. */
  transaction<T>(kind: "DEFERRED" | "IMMEDIATE", work: () => T): T {
    this.exec(`BEGIN ${kind}`);
    try {
      const result = work();
      this.exec("COMMIT");
      return result;
    } catch (error) {
      // SQLite ends some by itself.
      this.use((database) => database.isTransaction && database.exec("ROLLBACK"));
      throw error;
    }
  }

  damaged(reason: string): Error {
    return ledgerDamaged(this.path, reason);
  }

  close(): void {
    this.#database.close();
  }
}

interface StoredRow {
  readonly id: number;
  readonly key: string | null;
  readonly record: string;
  readonly sum: number;
}

export class LedgerTable<Row> {
  readonly #file: LedgerFile;
  readonly #name: string;
  readonly #put: StatementSync;
  readonly #remove: StatementSync;
  readonly #get: StatementSync;
  readonly #before: StatementSync;

  constructor(file: LedgerFile, name: string, isNew: boolean) {
    this.#file = file;
    this.#name = name;
    const columns = "id INTEGER PRIMARY KEY, key TEXT UNIQUE, record TEXT NOT NULL, sum INTEGER NOT NULL";
    if (isNew) file.exec(`CREATE TABLE ${name} (${columns}) STRICT`);
    const prepare = (sql: string) => file.use((database) => database.prepare(sql));
    this.#put = prepare(`INSERT OR REPLACE INTO ${name} (key, record, sum) VALUES (?, ?, ?)`);
    this.#remove = prepare(`DELETE FROM ${name} WHERE key = ?`);
    this.#get = prepare(`SELECT * FROM ${name} WHERE key = ?`);
    this.#before = prepare(`SELECT * FROM ${name} WHERE id < ? ORDER BY id DESC LIMIT ?`);
  }

  get size(): number {
    return this.#file.value(`SELECT count(*) FROM ${this.#name}`) as number;
  }

  /** Adds a record in a transaction of `Ledger`, in the place of one with the same key. */
  put(key: string | null, record: Row): void {
    const text = JSON.stringify(record);
    this.#file.use(() => this.#put.run(key, text, sumOf(key, text)));
  }

  remove(key: string): void {
    this.#file.use(() => this.#remove.run(key));
  }

  clear(): void {
    this.#file.exec(`DELETE FROM ${this.#name}`);
  }

  /** The records of another table, which is empty then, take the place of all. */
  takeAllOf(other: LedgerTable<Row>): void {
    this.clear();
    this.#file.exec(`INSERT INTO ${this.#name} SELECT * FROM ${other.#name} ORDER BY id`);
    other.clear();
  }

  get(key: string): Row | null {
    const row = this.#file.use(() => this.#get.get(key)) as StoredRow | undefined;
    return row === undefined ? null : this.#recordOf(row);
  }

  /** The records of many keys take half the time in one transaction. */
  getAll(keys: readonly string[]): (Row | null)[] {
    return this.#file.transaction("DEFERRED", () => keys.map((key) => this.get(key)));
  }

  /** The last records, the last one first. */
  newest(count: number): Row[] {
    return this.pages(count).next().value ?? [];
  }

  /** All records, the last one first; others may be added between two pages. */
  *pages(pageRows = PAGE_ROWS): Generator<Row[], void, void> {
    for (let id = Number.MAX_SAFE_INTEGER; ; ) {
      const rows = this.#file.use(() => this.#before.all(id, pageRows)) as unknown[] as StoredRow[];
      if (rows.length === 0) return;
      for (const row of rows) {
        // Damage may lead round in circles.
        if (row.id >= id) throw this.#file.damaged(`rows of ${this.#name} are not in their order`);
        id = row.id;
      }
      yield rows.map((row) => this.#recordOf(row));
    }
  }

  #recordOf({ key, record, sum }: StoredRow): Row {
    if (sumOf(key, record) !== sum)
      throw this.#file.damaged(`a row of ${this.#name} does not have its checksum`);
    return JSON.parse(record) as Row;
  }
}

function sumOf(key: string | null, record: string): number {
  return crc32(`${key} ${record}`);
}
