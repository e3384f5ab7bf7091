/** Writes a result to a stream, such as stdout, as it comes. */
import type { Writable } from "node:stream";
import type { RecordBatch, Schema } from "apache-arrow";
import { arrowStreamEncoder } from "../encoders/arrow_encoders.ts";
import type { TableEncoder } from "../encoders/table_encoder.ts";
import { csvEncoder, jsonLinesEncoder } from "../encoders/text_encoder.ts";
import { FactorBatches, type OutputColumns, type OutputOptions } from "../factors/factor_batches.ts";
import { BatchWriter, type FactorWriter, type TableOutput } from "./factor_writer.ts";
import type { StreamFormat } from "./stream_formats.ts";

const ENCODERS: Readonly<Record<StreamFormat, (schema: Schema) => TableEncoder>> = {
  arrow: arrowStreamEncoder,
  csv: csvEncoder,
  jsonl: jsonLinesEncoder,
};

/**
 * Opens a stream for a result, which gets the bytes of the file of that format. A stream that its reader has closed, or whose
 * disk is full, takes no more: the values are still counted.
 *
 * @throws DataError E314 when a factor has the name of a key column.
 */
export function openStreamWriter(
  stream: Writable,
  format: StreamFormat,
  columns: OutputColumns,
  options: OutputOptions = {},
): FactorWriter {
  const batches = new FactorBatches(columns, options);
  return new BatchWriter(new StreamOutput(stream, ENCODERS[format](batches.schema())), batches);
}

class StreamOutput implements TableOutput {
  readonly #stream: Writable;
  readonly #encoder: TableEncoder;
  #hasBegun = false;
  /** After a failure nothing is written: on a disk that was full for a moment the result would have a hole. */
  #hasFailed = false;

  constructor(stream: Writable, encoder: TableEncoder) {
    this.#stream = stream;
    this.#encoder = encoder;
  }

  async write(
    batches: Iterable<RecordBatch> | AsyncIterable<RecordBatch>,
    onWritten?: (batch: RecordBatch) => void,
  ): Promise<void> {
    if (!this.#hasBegun) await this.#send(this.#encoder.begin());
    this.#hasBegun = true;
    for await (const batch of batches) {
      await this.#send(this.#encoder.encode([batch]));
      onWritten?.(batch);
    }
  }

  async commit(schema: Schema): Promise<void> {
    await this.#send(this.#encoder.finish(schema));
  }

  async abort(): Promise<void> {}

  async #send(parts: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<void> {
    for await (const part of parts) {
      if (this.#hasFailed) return;
      const failure = await new Promise<Error | null | undefined>((resolve) => {
        this.#stream.write(part, resolve);
      });
      if (failure) this.#hasFailed = true;
    }
  }
}
