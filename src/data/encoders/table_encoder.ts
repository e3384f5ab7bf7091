import type { RecordBatch, Schema } from "apache-arrow";

/** Turns the batches of one table into the bytes of a format. */
export interface TableEncoder {
  /** Batches that are encoded together. */
  readonly batchCount: number;
  /** The bytes before the first row. */
  begin(): Iterable<Uint8Array>;
  /** The bytes of the next batches. They may lie in these, which are not needed once they are written. */
  encode(batches: readonly RecordBatch[]): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
  /** The rest. The schema has the columns of the batches; its metadata are the final ones. */
  finish(schema: Schema): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}
