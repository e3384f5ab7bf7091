/** Where the record batches of a table go: a file of one of the output formats, written as they come. */
import type { RecordBatch, Schema } from "apache-arrow";

/** Takes the batches of one table. */
export interface TableSink {
  /**
   * Takes a batch; it may be written later, but no more than a few are held.
   *
   * @param onWritten called when nothing of the batch is needed any more
   */
  write(batch: RecordBatch, onWritten?: () => void): Promise<void>;
  /** Writes the end. The schema has the same columns as that given at the start; its metadata count. */
  finish(schema: Schema): Promise<void>;
  /** Closes everything; the file, which is not complete, stays. */
  abort(): Promise<void>;
}
