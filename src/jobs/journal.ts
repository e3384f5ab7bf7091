/**
 * A journal: one record per line, `{"sum": checksum, "record": {...}}`. A line that a crash has cut short can only be
 * the last one, and is as if it had never been begun; a wrong line before the end is damage.
 */
import { createHash } from "node:crypto";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { makeFolder, syncFolder } from "./durable.ts";
import { journalDamaged } from "./errors.ts";
import type { JournalRecord } from "./records.ts";

const SUM_LENGTH = 16;

function checksum(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, SUM_LENGTH);
}

export function formatRecord(record: JournalRecord): string {
  const text = JSON.stringify(record);
  return `{"sum":"${checksum(text)}","record":${text}}\n`;
}

/** The record of a line; null if it does not agree with its checksum. */
function parseLine(line: string): JournalRecord | null {
  const match = /^\{"sum":"([0-9a-f]{16})","record":(.*)\}$/s.exec(line);
  if (!match || checksum(match[2]!) !== match[1]) return null;
  return JSON.parse(match[2]!) as JournalRecord;
}

export interface JournalText {
  readonly records: JournalRecord[];
  /** Bytes up to the end of the last whole record. */
  readonly bytes: number;
}

/** Reads a journal without touching it; one that does not exist is empty. @throws DataError E360 for damage. */
export async function readJournal(path: string): Promise<JournalText> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  const records: JournalRecord[] = [];
  let bytes = 0;
  const lines = text.split("\n");
  for (const [index, line] of lines.entries()) {
    const isLast = index === lines.length - 1;
    const record = isLast ? null : parseLine(line);
    if (record === null) {
      const rest = lines.slice(index + 1).some((other) => other !== "");
      if (rest) throw journalDamaged(path, `line ${index + 1} does not agree with its checksum`);
      break;
    }
    records.push(record);
    bytes += Buffer.byteLength(line) + 1;
  }
  return { records, bytes };
}

/** A journal that is written to. One process at a time: see `JournalLock`. */
export class Journal {
  readonly #handle: FileHandle;
  /** Where the last whole record ends: a line that could not be written whole is written over. */
  #bytes: number;

  /** Opens the journal, creates it if need be, and cuts off a torn last line. */
  static async open(path: string): Promise<{ journal: Journal; records: JournalRecord[] }> {
    await makeFolder(dirname(path));
    const { records, bytes } = await readJournal(path);
    const handle = await open(path, "a+");
    await handle.truncate(bytes);
    await handle.sync();
    await syncFolder(dirname(path));
    return { journal: new Journal(handle, bytes), records };
  }

  private constructor(handle: FileHandle, bytes: number) {
    this.#handle = handle;
    this.#bytes = bytes;
  }

  /** Adds a record; it is on the disk when the promise is fulfilled. */
  async append(record: JournalRecord): Promise<void> {
    const line = Buffer.from(formatRecord(record));
    try {
      await this.#handle.appendFile(line);
      await this.#handle.sync();
      this.#bytes += line.length;
    } catch (error) {
      await this.#handle.truncate(this.#bytes).catch(() => {});
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}
