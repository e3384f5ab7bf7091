/** Arrow IPC: files and streams. */
import { type RecordBatch, RecordBatchFileWriter, RecordBatchStreamWriter, type Schema } from "apache-arrow";
import type { TableEncoder } from "./table_encoder.ts";

/** Collects the bytes of a file, which the library would put into an unbounded queue. */
export class FileParts extends RecordBatchFileWriter {
  readonly #parts: Uint8Array[] = [];

  takeParts(): Uint8Array[] {
    return this.#parts.splice(0);
  }

  finishWith(schema: Schema): void {
    this._schema = schema;
    this.finish();
  }

  protected override _write(chunk: ArrayBufferView): this {
    if (!this._started || chunk.byteLength === 0) return this;
    this.#parts.push(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    this._position += chunk.byteLength;
    return this;
  }
}

/** The same for a stream. */
class StreamParts extends RecordBatchStreamWriter {
  readonly #parts: Uint8Array[] = [];

  takeParts(): Uint8Array[] {
    return this.#parts.splice(0);
  }

  /** A stream has no place for the final metadata. */
  finishWith(): void {
    this.finish();
  }

  protected override _write(chunk: ArrayBufferView): this {
    if (!this._started || chunk.byteLength === 0) return this;
    this.#parts.push(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    this._position += chunk.byteLength;
    return this;
  }
}

class ArrowEncoder implements TableEncoder {
  readonly batchCount = 1;
  readonly #writer: FileParts | StreamParts;

  constructor(writer: FileParts | StreamParts, schema: Schema) {
    this.#writer = writer;
    writer.reset(undefined, schema);
  }

  begin(): Uint8Array[] {
    return this.#writer.takeParts();
  }

  encode(batches: readonly RecordBatch[]): Uint8Array[] {
    for (const batch of batches) this.#writer.write(batch);
    return this.#writer.takeParts();
  }

  finish(schema: Schema): Uint8Array[] {
    this.#writer.finishWith(schema);
    return this.#writer.takeParts();
  }
}

/** As in all files of apache-arrow for JavaScript, only the end of the file has the schema. */
export function arrowFileEncoder(schema: Schema): TableEncoder {
  return new ArrowEncoder(new FileParts(), schema);
}

export function arrowStreamEncoder(schema: Schema): TableEncoder {
  return new ArrowEncoder(new StreamParts(), schema);
}
