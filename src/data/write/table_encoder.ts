import type { RecordBatch, Schema } from "apache-arrow";

/** Turns the batches of one table into the bytes of a format. */
export interface TableEncoder {
  /** The bytes before the first row. */
  begin(): Iterable<Uint8Array>;
  /** The bytes that may be written by now. They may lie in the batch, which is not needed once they are written. */
  encode(batch: RecordBatch): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
  /** The rest. The schema has the columns of the batches; its metadata are the final ones. */
  finish(schema: Schema): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}
