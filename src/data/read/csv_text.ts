/** Reads what DuckDB does not report of a CSV file: its header as written, and the line of a data row. */
import { createReadStream } from "node:fs";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { notUtf8 } from "../errors.ts";
import { otherEncoding } from "./text_encoding.ts";

const HEADER_BYTES_MAX = 1024 * 1024;
const CHECK_CHUNK_BYTES = 1024 * 1024;
const QUOTE = 0x22;
const LINE_FEED = 0x0a;
export const CARRIAGE_RETURN = 0x0d;

/** The format of the file; quotes are `"`, doubled inside quotes. */
export interface CsvDialect {
  readonly delimiter: string;
  readonly gzipped: boolean;
  /** The last byte of a line; a carriage return only in files of old Macs. */
  readonly lineEnd: typeof LINE_FEED | typeof CARRIAGE_RETURN;
}

/** The first line of a file, and what ends it. */
interface FirstLine extends Pick<CsvDialect, "lineEnd"> {
  readonly bytes: Uint8Array;
}

/**
 * Names in the first line, repeated ones included (DuckDB would rename them), and the ends of lines.
 *
 * @throws DataError E305 if the first line is in another encoding than UTF-8; Error if it is not text of at most 1 MiB.
 */
export async function readCsvHeader(
  file: string,
  path: string,
  dialect: Omit<CsvDialect, "lineEnd">,
): Promise<Pick<CsvDialect, "lineEnd"> & { readonly names: string[] }> {
  const { bytes, lineEnd } = await readFirstLine(path, dialect);
  const encoding = otherEncoding(bytes);
  if (encoding !== null) throw notUtf8(file, 1, encoding);
  const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  if (/[^\P{Cc}\s]/u.test(text)) throw new Error("the first line is not text");
  return { names: splitCells(text, dialect.delimiter), lineEnd };
}

async function readFirstLine(path: string, dialect: Pick<CsvDialect, "gzipped">): Promise<FirstLine> {
  const parts: Uint8Array[] = [];
  let byteCount = 0;
  let inQuotes = false;
  let last = 0;
  for await (const chunk of openBytes(path, dialect)) {
    for (const [index, byte] of chunk.entries()) {
      if (byte === LINE_FEED && !inQuotes)
        return { bytes: Buffer.concat([...parts, chunk.subarray(0, index)]), lineEnd: LINE_FEED };
      // After a carriage return, any byte except a line feed or another return begins the next line.
      if (last === CARRIAGE_RETURN && byte !== CARRIAGE_RETURN && !inQuotes)
        return { bytes: Buffer.concat([...parts, chunk.subarray(0, index)]), lineEnd: CARRIAGE_RETURN };
      if (byte === QUOTE) inQuotes = !inQuotes;
      last = byte;
    }
    parts.push(chunk);
    byteCount += chunk.length;
    if (byteCount > HEADER_BYTES_MAX) throw new Error("the first line does not end");
  }
  return { bytes: Buffer.concat(parts), lineEnd: LINE_FEED };
}

function splitCells(line: string, delimiter: string): string[] {
  const cells: string[] = [];
  let start = 0;
  let inQuotes = false;
  const text = line.replace(/\r+$/, "");
  for (let index = 0; index <= text.length; index += 1) {
    if (text[index] === '"') inQuotes = !inQuotes;
    if (index < text.length && (inQuotes || text[index] !== delimiter)) continue;
    cells.push(unquote(text.slice(start, index)));
    start = index + 1;
  }
  return cells;
}

function unquote(cell: string): string {
  return cell.startsWith('"') && cell.endsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
}

/**
 * Line (1-based) on which data row `rowNumber` (1-based) starts: cells in quotes may span lines, and blank lines
 * are no rows. Reads the file up to there; for messages only.
 */
export async function findLineOfRow(path: string, dialect: CsvDialect, rowNumber: number): Promise<number> {
  let line = 0;
  let recordCount = 0; // the header is the first record
  let inQuotes = false;
  for await (const bytes of linesOf(path, dialect)) {
    line += 1;
    if (!inQuotes && bytes.some((byte) => byte !== CARRIAGE_RETURN)) recordCount += 1;
    if (recordCount === rowNumber + 1) return line;
    if (bytes.filter((byte) => byte === QUOTE).length % 2 === 1) inQuotes = !inQuotes;
  }
  return line;
}

/** The first line (1-based) that is not UTF-8, and what it may be. */
export async function findOtherEncoding(
  path: string,
  dialect: CsvDialect,
): Promise<{ readonly line: number; readonly encoding: string } | null> {
  let line = 0;
  for await (const bytes of linesOf(path, dialect)) {
    line += 1;
    const encoding = otherEncoding(bytes);
    if (encoding !== null) return { line, encoding };
  }
  return null;
}

/** The lines without their ends, also those that end in quotes; the last one may be empty. */
async function* linesOf(path: string, dialect: CsvDialect): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array(0);
  for await (const chunk of openBytes(path, dialect)) {
    const bytes = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(dialect.lineEnd); end >= 0; end = bytes.indexOf(dialect.lineEnd, start)) {
      yield bytes.subarray(start, end);
      start = end + 1;
    }
    rest = bytes.subarray(start);
  }
  yield rest;
}

/** What ends a line. */
type LineEnd = "a line feed" | "a carriage return" | "a carriage return and a line feed";

/** The first line (1-based) that ends differently from the first one; the last line does not count. */
export async function findOtherLineEnd(
  path: string,
  dialect: Pick<CsvDialect, "gzipped">,
): Promise<{ readonly line: number; readonly end: LineEnd; readonly usual: LineEnd } | null> {
  let line = 1;
  let usual: LineEnd | undefined;
  let inQuotes = false;
  let last = 0;
  for await (const chunk of openBytes(path, dialect)) {
    for (const byte of chunk) {
      const [isFeed, hasReturn] = [byte === LINE_FEED, last === CARRIAGE_RETURN];
      last = byte;
      if (!inQuotes && (isFeed || hasReturn)) {
        const end = !isFeed
          ? "a carriage return"
          : hasReturn
            ? "a carriage return and a line feed"
            : "a line feed";
        usual ??= end;
        if (end !== usual) return { line, end, usual };
        line += 1;
      }
      if (byte === QUOTE) inQuotes = !inQuotes;
    }
  }
  return null;
}

/**
 * Reads a gzipped file to its end. DuckDB would take the end of a truncated one for the end of the table.
 *
 * @throws Error if it is truncated or damaged.
 */
export async function checkGzip(path: string): Promise<void> {
  const ignore = new Writable({ write: (_chunk, _encoding, done) => done() });
  const file = createReadStream(path, { highWaterMark: CHECK_CHUNK_BYTES });
  await pipeline(file, createGunzip({ chunkSize: CHECK_CHUNK_BYTES }), ignore);
}

function openBytes(path: string, dialect: Pick<CsvDialect, "gzipped">): AsyncIterable<Uint8Array> {
  const file = createReadStream(path);
  if (!dialect.gzipped) return file;
  const gunzip = createGunzip();
  file.on("error", (error) => gunzip.destroy(error));
  return file.pipe(gunzip);
}
