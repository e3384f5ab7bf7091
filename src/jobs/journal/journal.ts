/**
 * A journal: one record per line, `{"sum": checksum, "record": {...}}`. The checksum is that of the record and of the
 * checksum before it, so that lines cannot be missing, doubled or exchanged. A line that a crash has cut short can only
 * be the last one, and is as if it had never been begun; a wrong line before the end is damage.
 */
import { createHash } from "node:crypto";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { journalDamaged, journalOlder } from "../errors.ts";
import { makeFolder, syncFolder } from "./durable.ts";
import type { JournalRecord } from "./records.ts";

const SUM_LENGTH = 16;

/** What stands before the first checksum: the format. Journals of version 0.1.0 have nothing there. */
const FIRST_SUM = "factorloom journal 2";

function checksum(before: string, text: string): string {
  return createHash("sha256").update(before).update(text).digest("hex").slice(0, SUM_LENGTH);
}

/** A line of a journal, behind the line that has the other checksum. */
export function formatRecord(record: JournalRecord, before = FIRST_SUM): { line: string; sum: string } {
  const text = JSON.stringify(record);
  const sum = checksum(before, text);
  return { line: `{"sum":"${sum}","record":${text}}\n`, sum };
}

/** The record of a line; null if it does not agree with its checksum. */
function parseLine(line: string, before: string): { record: JournalRecord; sum: string } | null {
  const [, sum, text] = /^\{"sum":"([0-9a-f]{16})","record":(.*)\}$/s.exec(line) ?? [];
  if (sum === undefined || text === undefined || checksum(before, text) !== sum) return null;
  return { record: JSON.parse(text) as JournalRecord, sum };
}

export interface JournalText {
  readonly records: JournalRecord[];
  /** Checksum of the last whole record. */
  readonly sum: string;
  /** Bytes up to the end of the last whole record. */
  readonly bytes: number;
}

/**
 * Reads a journal without touching it; one that does not exist is empty.
 *
 * @throws DataError E360 for damage; UsageError E537 for a journal of version 0.1.0.
 */
export async function readJournal(path: string): Promise<JournalText> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  const records: JournalRecord[] = [];
  let bytes = 0;
  let sum = FIRST_SUM;
  const lines = text.split("\n");
  if (lines.length > 1 && parseLine(lines[0]!, "") !== null) throw journalOlder(path);
  for (const [index, line] of lines.entries()) {
    const isLast = index === lines.length - 1;
    const parsed = isLast ? null : parseLine(line, sum);
    if (parsed === null) {
      const rest = lines.slice(index + 1).some((other) => other !== "");
      if (rest) throw journalDamaged(path, `line ${index + 1} does not agree with its checksum`);
      break;
    }
    records.push(parsed.record);
    sum = parsed.sum;
    bytes += Buffer.byteLength(line) + 1;
  }
  return { records, bytes, sum };
}

/** A journal that is written to. One process at a time: see `JournalLock`. */
export class Journal {
  readonly #path: string;
  readonly #handle: FileHandle;
  /** Where the last whole record ends: a line that could not be written whole is written over. */
  #bytes: number;
  #sum: string;

  /** Opens the journal, creates it if need be, and cuts off a torn last line. */
  static async open(path: string): Promise<{ journal: Journal; records: JournalRecord[] }> {
    await makeFolder(dirname(path));
    const { records, bytes, sum } = await readJournal(path);
    const handle = await open(path, "a+");
    await handle.truncate(bytes);
    await handle.sync();
    await syncFolder(dirname(path));
    return { journal: new Journal(path, handle, bytes, sum), records };
  }

  private constructor(path: string, handle: FileHandle, bytes: number, sum: string) {
    this.#path = path;
    this.#handle = handle;
    this.#bytes = bytes;
    this.#sum = sum;
  }

  /** Adds a record; it is on the disk when the promise is fulfilled. @throws DataError E360 if it is not as we left it. */
  async append(record: JournalRecord): Promise<void> {
    const { line: text, sum } = formatRecord(record, this.#sum);
    const line = Buffer.from(text);
    // A lock that somebody removed keeps nobody out, and nothing is cut off that another process wrote.
    const { size } = await this.#handle.stat();
    if (size !== this.#bytes) throw journalDamaged(this.#path, "another process has changed it meanwhile");
    try {
      await this.#handle.appendFile(line);
      await this.#handle.sync();
      this.#bytes += line.length;
      this.#sum = sum;
    } catch (error) {
      await this.#handle.truncate(this.#bytes).catch(() => {});
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}
