import type { OutputCounts } from "../protocol/protocol.ts";
import type { FactorRows } from "./output_block.ts";

/** What a task reports of a result in a file. */
export interface ResultOutcome {
  readonly bytesWritten?: number;
  readonly counts?: OutputCounts;
}

/** A file for the result of a task; it is not visible under its name before `commit`. */
export interface ResultTarget {
  /** The outcome if the file exists already, else null. */
  done(): ResultOutcome | null;
  /** Adds the next rows. */
  append(rows: FactorRows): void | Promise<void>;
  /** Renames the file to its name. */
  commit(): Promise<ResultOutcome>;
  /** Removes the file. Does nothing after `commit`. */
  abort(): Promise<void>;
}
