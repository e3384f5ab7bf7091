import type { RecordBatch, Schema } from "apache-arrow";

/** Where a table goes, batch by batch: a file or a stream. */
export interface TableOutput {
  /** Adds batches; one call at a time. They may be written later: `onWritten` says when one is no longer needed. */
  write(
    batches: Iterable<RecordBatch> | AsyncIterable<RecordBatch>,
    onWritten?: (batch: RecordBatch) => void,
  ): Promise<void>;
  /** Writes the end. The schema has the columns of the batches; its metadata are the final ones. */
  commit(schema: Schema): Promise<void>;
  /** Gives up. Does nothing after `commit`. */
  abort(): Promise<void>;
}
