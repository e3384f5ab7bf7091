/** The common interface of writers of output formats. */
import type { RecordBatch, Schema } from "apache-arrow";

/** Writes the batches of one table to a file. */
export interface TableSink {
  /**
   * Adds a batch, which may be written later; only a few are kept.
   *
   * @param onWritten called when the batch is no longer needed
   */
  write(batch: RecordBatch, onWritten?: () => void): Promise<void>;
  /** Completes the file. The schema has the columns of that given at the start; its metadata are the final ones. */
  finish(schema: Schema): Promise<void>;
  /** Closes everything; the incomplete file stays. */
  abort(): Promise<void>;
}
