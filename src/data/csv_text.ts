/** The text of a CSV file where DuckDB gives none: its header as written, and the line of a data row. */
import { createReadStream } from "node:fs";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";

const HEADER_BYTES_MAX = 1024 * 1024;
const CHECK_CHUNK_BYTES = 1024 * 1024;
const QUOTE = 0x22;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** How the file is written; quotes are `"`, doubled inside quotes. */
export interface CsvDialect {
  readonly delimiter: string;
  readonly gzipped: boolean;
}

/**
 * Names in the first line. A name that the file repeats is repeated here (DuckDB would rename it).
 *
 * @throws Error when the first line is not UTF-8 text of at most 1 MiB.
 */
export async function readCsvHeader(path: string, dialect: CsvDialect): Promise<string[]> {
  const line = await readFirstLine(path, dialect);
  const text = new TextDecoder("utf-8", { fatal: true }).decode(line);
  if (/[^\P{Cc}\s]/u.test(text)) throw new Error("the first line is not text");
  return splitCells(text, dialect.delimiter);
}

async function readFirstLine(path: string, dialect: CsvDialect): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let byteCount = 0;
  let inQuotes = false;
  for await (const chunk of openBytes(path, dialect)) {
    for (const [index, byte] of chunk.entries()) {
      if (byte === QUOTE) inQuotes = !inQuotes;
      else if (byte === LINE_FEED && !inQuotes) return Buffer.concat([...parts, chunk.subarray(0, index)]);
    }
    parts.push(chunk);
    byteCount += chunk.length;
    if (byteCount > HEADER_BYTES_MAX) throw new Error("the first line does not end");
  }
  return Buffer.concat(parts);
}

function splitCells(line: string, delimiter: string): string[] {
  const cells: string[] = [];
  let start = 0;
  let inQuotes = false;
  const text = line.replace(/\r$/, "");
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
  let line = 1;
  let recordCount = 0; // the header is the first record
  let inQuotes = false;
  let inRecord = false;
  for await (const chunk of openBytes(path, dialect)) {
    for (const byte of chunk) {
      if (byte === LINE_FEED) {
        line += 1;
        if (!inQuotes) inRecord = false;
        continue;
      }
      if (byte === CARRIAGE_RETURN) continue;
      if (byte === QUOTE) inQuotes = !inQuotes;
      if (inRecord) continue;
      inRecord = true;
      recordCount += 1;
      if (recordCount === rowNumber + 1) return line;
    }
  }
  return line;
}

/**
 * Reads a gzipped file to its end: DuckDB takes the end of a file that was cut off for the end of the table.
 *
 * @throws Error when the file is cut off or damaged.
 */
export async function checkGzip(path: string): Promise<void> {
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() });
  await pipeline(createReadStream(path), createGunzip({ chunkSize: CHECK_CHUNK_BYTES }), discard);
}

function openBytes(path: string, dialect: CsvDialect): AsyncIterable<Uint8Array> {
  const file = createReadStream(path);
  if (!dialect.gzipped) return file;
  const gunzip = createGunzip();
  file.on("error", (error) => gunzip.destroy(error));
  return file.pipe(gunzip);
}
