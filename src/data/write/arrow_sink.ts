/** Writes an Arrow IPC file batch by batch. */
import { type FileHandle, open } from "node:fs/promises";
import { type RecordBatch, RecordBatchFileWriter, type Schema } from "apache-arrow";
import { writeFully } from "../../files/write_fully.ts";
import type { TableSink } from "./table_sink.ts";

/** As in all files of apache-arrow for JavaScript, only the end of the file has the schema. */
export class ArrowSink implements TableSink {
  readonly #handle: FileHandle;
  readonly #writer = new PartsWriter();

  static async open(path: string, schema: Schema): Promise<ArrowSink> {
    return new ArrowSink(await open(path, "w"), schema);
  }

  private constructor(handle: FileHandle, schema: Schema) {
    this.#handle = handle;
    this.#writer.reset(undefined, schema);
  }

  async write(batch: RecordBatch, onWritten?: () => void): Promise<void> {
    this.#writer.write(batch);
    await writeFully(this.#handle, this.#writer.takeParts());
    onWritten?.();
  }

  async finish(schema: Schema): Promise<void> {
    this.#writer.finishWith(schema);
    await writeFully(this.#handle, this.#writer.takeParts());
    await this.#handle.close();
  }

  async abort(): Promise<void> {
    await this.#handle.close();
  }
}

/** Collects bytes that the library would put into an unbounded queue. */
export class PartsWriter extends RecordBatchFileWriter {
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
