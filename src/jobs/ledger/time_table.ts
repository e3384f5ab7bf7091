/** The evaluated times of a ledger: the file that each belongs to, and the digests of its rows. */
import type { StatementSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import type { LedgerFile } from "./ledger_table.ts";

export interface KnownTime {
  readonly time: bigint;
  /** The file that was taken last of those that have the time. */
  readonly path: string;
  /** As `TimeDigest.bytes`. */
  readonly bytes: Uint8Array;
}

/** Times that are read together. */
const PAGE_ROWS = 1_000;

type StoredTime = KnownTime & { readonly sum: bigint };

export class TimeTable {
  readonly #file: LedgerFile;
  readonly #put: StatementSync;
  readonly #get: StatementSync;
  readonly #from: StatementSync;
  readonly #ofPath: StatementSync;
  readonly #before: StatementSync;
  readonly #after: StatementSync;
  readonly #count: StatementSync;
  readonly #countFiles: StatementSync;

  constructor(file: LedgerFile, isNew: boolean) {
    this.#file = file;
    const columns = "time INTEGER PRIMARY KEY, path TEXT NOT NULL, bytes BLOB NOT NULL, sum INTEGER NOT NULL";
    if (isNew) file.exec(`CREATE TABLE time (${columns}) STRICT`);
    const prepare = (sql: string) =>
      file.use((database) => {
        const statement = database.prepare(sql);
        statement.setReadBigInts(true);
        return statement;
      });
    this.#put = prepare("INSERT OR REPLACE INTO time VALUES (?, ?, ?, ?)");
    this.#get = prepare("SELECT * FROM time WHERE time = ?");
    this.#from = prepare("SELECT * FROM time WHERE time >= ? ORDER BY time LIMIT ?");
    this.#ofPath = prepare("SELECT time FROM time WHERE path = ? ORDER BY time");
    this.#before = prepare(
      "SELECT min(time) AS time FROM (SELECT time FROM time WHERE time < ? ORDER BY time DESC LIMIT ?)",
    );
    this.#after = prepare(
      "SELECT max(time) AS time FROM (SELECT time FROM time WHERE time > ? ORDER BY time LIMIT ?)",
    );
    this.#countFiles = prepare("SELECT count(DISTINCT path) AS time FROM time WHERE time >= ?");
    this.#count = prepare("SELECT count(*) AS time FROM time WHERE time BETWEEN ? AND ?");
  }

  /** Adds a time in a transaction of `Ledger`, or gives it to another file. */
  put({ time, path, bytes }: KnownTime): void {
    this.#file.use(() => this.#put.run(time, path, bytes, sumOf(time, path, bytes)));
  }

  get(time: bigint): KnownTime | null {
    const row = this.#file.use(() => this.#get.get(time)) as StoredTime | undefined;
    return row === undefined ? null : this.#checked(row);
  }

  /** Times from `first` on, in order; others may be added between two pages. */
  *from(first: bigint): Generator<KnownTime, void, void> {
    for (let next = first; ; ) {
      const rows = this.#file.use(() => this.#from.all(next, PAGE_ROWS)) as unknown[] as StoredTime[];
      for (const row of rows) {
        if (row.time < next) throw this.#file.damaged("times are not in their order");
        next = row.time + 1n;
        yield this.#checked(row);
      }
      if (rows.length < PAGE_ROWS) return;
    }
  }

  /** Those that belong to a file. */
  ofPath(path: string): bigint[] {
    const rows = this.#file.use(() => this.#ofPath.all(path)) as unknown[] as StoredTime[];
    return rows.map(({ time }) => time);
  }

  /** The time that is a number of times before another, or the first one. */
  before(time: bigint, count: number): bigint {
    return this.#one(this.#before, time, count) ?? time;
  }

  /** The time that is a number of times behind another, or the last one. */
  after(time: bigint, count: number): bigint {
    return this.#one(this.#after, time, count) ?? time;
  }

  /** How many there are from one time to another, both included. */
  count(from: bigint, to: bigint): number {
    return Number(this.#one(this.#count, from, to));
  }

  /** How many files the times from `first` on belong to. */
  countFiles(first: bigint): number {
    return Number(this.#one(this.#countFiles, first));
  }

  #one(statement: StatementSync, ...given: readonly (bigint | number)[]): bigint | null {
    const limits = given.map((one) => (one === Number.POSITIVE_INFINITY ? -1 : one));
    return (this.#file.use(() => statement.get(...limits)) as unknown as StoredTime).time;
  }

  #checked({ time, path, bytes, sum }: StoredTime): KnownTime {
    const isWhole = bytes instanceof Uint8Array && BigInt(sumOf(time, path, bytes)) === sum;
    if (!isWhole) throw this.#file.damaged("a time does not have its checksum");
    return { time, path, bytes };
  }
}

function sumOf(time: bigint, path: string, bytes: Uint8Array): number {
  return crc32(bytes, crc32(`${time} ${path}`));
}
