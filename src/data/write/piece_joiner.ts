/** Concatenates pieces of a table, each a file that DuckDB wrote, into one file. */
import { createWriteStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGzip, type Gzip } from "node:zlib";
import type { Schema } from "apache-arrow";
import { writeFully } from "../../files/write_fully.ts";
import { ARROW_SCHEMA_KEY, encodeSchema } from "../arrow/arrow_schema_text.ts";
import { ParquetSplice } from "../parquet/parquet_splice.ts";
import type { OutputFormat } from "./output_path.ts";

export interface PieceJoiner {
  add(piece: Uint8Array): Promise<void>;
  finish(schema: Schema): Promise<void>;
  /** Closes the file. */
  abort(): Promise<void>;
}

export async function openJoiner(path: string, format: Exclude<OutputFormat, "arrow">): Promise<PieceJoiner> {
  if (format === "csv.gz") return new GzipJoiner(path);
  const handle = await open(path, "w");
  return format === "csv" ? new TextJoiner(handle) : new ParquetJoiner(handle);
}

class TextJoiner implements PieceJoiner {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async add(piece: Uint8Array): Promise<void> {
    await writeFully(this.#handle, [piece]);
  }

  async finish(): Promise<void> {
    await this.#handle.close();
  }

  async abort(): Promise<void> {
    await this.#handle.close();
  }
}

class GzipJoiner implements PieceJoiner {
  readonly #gzip: Gzip;
  readonly #written: Promise<void>;

  constructor(path: string) {
    this.#gzip = createGzip();
    this.#written = pipeline(this.#gzip, createWriteStream(path));
    this.#written.catch(() => {}); // it is awaited later
  }

  async add(piece: Uint8Array): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#gzip.write(piece, (error) => (error ? reject(error) : resolve()));
    await promise;
  }

  async finish(): Promise<void> {
    this.#gzip.end();
    await this.#written;
  }

  async abort(): Promise<void> {
    this.#gzip.destroy();
    await this.#written.catch(() => {});
  }
}

class ParquetJoiner implements PieceJoiner {
  readonly #handle: FileHandle;
  readonly #splice = new ParquetSplice();
  #isStarted = false;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async add(piece: Uint8Array): Promise<void> {
    const body = this.#splice.add(piece);
    await writeFully(this.#handle, this.#isStarted ? [body] : [this.#splice.head, body]);
    this.#isStarted = true;
  }

  async finish(schema: Schema): Promise<void> {
    await writeFully(this.#handle, [this.#splice.tail({ [ARROW_SCHEMA_KEY]: encodeSchema(schema) })]);
    await this.#handle.close();
  }

  async abort(): Promise<void> {
    await this.#handle.close();
  }
}
