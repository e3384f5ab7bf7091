/** Concatenates pieces of a table, each a file that DuckDB wrote, into one file. */
import { createWriteStream } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGzip, type Gzip } from "node:zlib";
import type { Schema } from "apache-arrow";
import { writeFully } from "../../files/write_fully.ts";
import { ARROW_SCHEMA_KEY, encodeSchema } from "../arrow/arrow_schema_text.ts";
import { ParquetSplice } from "../parquet/parquet_splice.ts";

export interface PieceJoiner {
  add(piece: Uint8Array): Promise<void>;
  finish(schema: Schema): Promise<void>;
  /** Closes the file. */
  abort(): Promise<void>;
}

export class TextJoiner implements PieceJoiner {
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

export class GzipJoiner implements PieceJoiner {
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

export class ParquetJoiner implements PieceJoiner {
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
