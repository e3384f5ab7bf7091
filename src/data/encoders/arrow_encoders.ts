/** Arrow IPC: files and streams. */
import {
  AsyncByteQueue,
  type RecordBatch,
  RecordBatchFileWriter,
  RecordBatchStreamWriter,
  type Schema,
} from "apache-arrow";
import type { TableEncoder } from "./table_encoder.ts";

/** Keeps the bytes of a writer until they are taken. */
class Parts extends AsyncByteQueue {
  readonly #parts: Uint8Array[] = [];

  override write(part: Uint8Array): void {
    if (part.byteLength > 0) this.#parts.push(part);
  }

  take(): Uint8Array[] {
    return this.#parts.splice(0);
  }
}

export class ArrowEncoder implements TableEncoder {
  readonly batchCount = 1;
  readonly #writer: RecordBatchFileWriter | RecordBatchStreamWriter;
  readonly #parts = new Parts();

  constructor(writer: RecordBatchFileWriter | RecordBatchStreamWriter, schema: Schema) {
    this.#writer = writer;
    writer.reset(this.#parts, schema);
  }

  begin(): Uint8Array[] {
    return this.#parts.take();
  }

  encode(batches: readonly RecordBatch[]): Uint8Array[] {
    for (const batch of batches) this.#writer.write(batch);
    return this.#parts.take();
  }

  /** As in all files of apache-arrow for JavaScript, only the end of a file has the schema; a stream has no place for it. */
  finish(schema: Schema): Uint8Array[] {
    this.#writer["_schema"] = schema;
    this.#writer.finish();
    return this.#parts.take();
  }
}

export function arrowFileEncoder(schema: Schema): ArrowEncoder {
  return new ArrowEncoder(new RecordBatchFileWriter(), schema);
}

export function arrowStreamEncoder(schema: Schema): ArrowEncoder {
  return new ArrowEncoder(new RecordBatchStreamWriter(), schema);
}
