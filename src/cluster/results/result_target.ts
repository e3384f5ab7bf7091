import type { OutputCounts } from "../protocol/protocol.ts";
import type { FactorRows } from "./output_block.ts";

/** What a task tells of a result that it has left in a file. */
export interface ResultOutcome {
  readonly bytesWritten?: number;
  readonly counts?: OutputCounts;
}

/** A file that takes the result of a task. Nobody sees it before `commit`. */
export interface ResultTarget {
  /** What there is to tell if the file is there already; null if it is not. */
  done(): ResultOutcome | null;
  /** Adds the next rows. */
  append(rows: FactorRows): void | Promise<void>;
  /** Gives the file its name. */
  commit(): Promise<ResultOutcome>;
  /** Leaves nothing behind. Does nothing after `commit`. */
  abort(): Promise<void>;
}
