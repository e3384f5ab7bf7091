/**
 * A journal: one record per line, `{"sum": checksum, "record": {...}}`. The checksum covers the record and the checksum
 * before it, so that missing, doubled or exchanged lines are found. A crash can truncate only the last line, which is
 * then ignored; a wrong line before the end is damage.
 */
import { hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { makeDurableFolder, syncFolder } from "../../files/durable.ts";
import { journalDamaged, journalOlder } from "../errors.ts";
import type { JournalRecord } from "./records.ts";

const SUM_LENGTH = 16;
const LINE_END = 10;

/** Seed of the first checksum: names the format. Journals of version 0.1.0 have an empty seed. */
const FIRST_SUM = "factorloom journal 2";

function checksum(before: string, text: string): string {
  return hash("sha256", before + text).slice(0, SUM_LENGTH);
}

/** Formats the line of a record that follows the line with checksum `before`. */
export function formatRecord(record: JournalRecord, before = FIRST_SUM): { line: string; sum: string } {
  const text = JSON.stringify(record);
  const sum = checksum(before, text);
  return { line: `{"sum":"${sum}","record":${text}}\n`, sum };
}

/** Parses a line; null if it does not match its checksum. */
function parseLine(line: string, before: string): { record: JournalRecord; sum: string } | null {
  const [, sum, text] = /^\{"sum":"([0-9a-f]{16})","record":(.*)\}$/s.exec(line) ?? [];
  if (sum === undefined || text === undefined || checksum(before, text) !== sum) return null;
  return { record: JSON.parse(text) as JournalRecord, sum };
}

export interface JournalEnd {
  /** Checksum of the last whole record. */
  readonly sum: string;
  /** Bytes up to the end of the last whole record. */
  readonly bytes: number;
}

/**
 * Reads the records of a journal without changing it; one that does not exist is empty.
 *
 * @throws DataError E360 for damage; UsageError E531 for a journal of version 0.1.0.
 */
export async function readJournal(
  path: string,
  onRecord: (record: JournalRecord) => void,
): Promise<JournalEnd> {
  let [bytes, sum, number] = [0, FIRST_SUM, 0];
  let wrong: number | null = null;
  for await (const { line, isWhole } of linesOf(path)) {
    number += 1;
    if (wrong !== null && line !== "")
      throw journalDamaged(path, `line ${wrong} does not agree with its checksum`);
    if (number === 1 && isWhole && parseLine(line, "") !== null) throw journalOlder(path);
    const parsed = isWhole && wrong === null ? parseLine(line, sum) : null;
    if (parsed === null) wrong ??= number;
    else {
      onRecord(parsed.record);
      sum = parsed.sum;
      bytes += Buffer.byteLength(line) + 1;
    }
  }
  return { bytes, sum };
}

/** The lines of a file, of which the last may lack its end. Together they may be longer than the longest string. */
async function* linesOf(path: string): AsyncGenerator<{ readonly line: string; readonly isWhole: boolean }> {
  let parts: Buffer[] = [];
  const joined = () => Buffer.concat(parts).toString();
  try {
    for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
      let from = 0;
      for (let end = piece.indexOf(LINE_END); end >= 0; end = piece.indexOf(LINE_END, from)) {
        parts.push(piece.subarray(from, end));
        yield { line: joined(), isWhole: true };
        parts = [];
        from = end + 1;
      }
      parts.push(piece.subarray(from));
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const rest = joined();
  if (rest !== "") yield { line: rest, isWhole: false };
}

/** A journal open for writing, by one process at a time: see `JournalLock`. */
export class Journal {
  readonly #path: string;
  readonly #handle: FileHandle;
  /** End of the last whole record. */
  #bytes: number;
  #sum: string;

  /** Opens or creates the journal and removes a truncated last line. */
  static async open(path: string, onRecord: (record: JournalRecord) => void): Promise<Journal> {
    await makeDurableFolder(dirname(path));
    const { bytes, sum } = await readJournal(path, onRecord);
    const handle = await open(path, "a+");
    await handle.truncate(bytes);
    await handle.sync();
    await syncFolder(dirname(path));
    return new Journal(path, handle, bytes, sum);
  }

  private constructor(path: string, handle: FileHandle, bytes: number, sum: string) {
    this.#path = path;
    this.#handle = handle;
    this.#bytes = bytes;
    this.#sum = sum;
  }

  /** Adds a record durably. @throws DataError E360 if another process has changed the file. */
  async append(record: JournalRecord): Promise<void> {
    const { line: text, sum } = formatRecord(record, this.#sum);
    const line = Buffer.from(text);
    // Someone may have removed the lock: never truncate what another process wrote.
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
