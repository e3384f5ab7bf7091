/** The records of a job's journal. Times of rows are whole numbers as text: JSON would round them. */
import type { RowsDigest } from "../../data/job_tables/result_table.ts";
import type { TimeType } from "../../panel.ts";

/** A file whose rows were evaluated. */
export interface ConsumedInput {
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly sha256: string;
  /** Distinct times. */
  readonly rowCount: number;
  readonly firstTime: string;
  readonly lastTime: string;
}

/** Where a finished result lies, and where it belongs. Paths are relative to the sink's folder, or a table's name. */
export interface OutputPlace {
  readonly staged: string;
  readonly target: string;
}

/** A finished result with what it is known by: the bytes of its file, and the rows that a table gets of it. */
export interface StagedOutput extends OutputPlace {
  readonly bytes: number;
  readonly sha256: string;
  /** Null for a sink of files. */
  readonly rows: RowsDigest | null;
}

/** The job and what its first file is like: what must stay the same from then on. */
export interface BeginRecord {
  readonly kind: "begin";
  readonly job: string;
  /** Random: tells this journal from others of a job with the same name. */
  readonly id: string;
  /** Columns of the results, beside time and symbol. */
  readonly factors: readonly string[];
  /** Digests of what must not change, by what it is. */
  readonly settings: Readonly<Record<string, string>>;
  readonly fieldNames: readonly string[];
  readonly groupNames: readonly string[];
  readonly time: { readonly name: string; readonly type: TimeType };
}

/** From here on the panel has these lanes. */
export interface UniverseRecord {
  readonly kind: "universe";
  readonly symbols: readonly string[];
  /** Digest of the groups of these symbols; null without a table of groups. */
  readonly groups: string | null;
}

/** Results of a batch of inputs and the checkpoint behind it are on disk: from here on it is carried through. */
export interface PreparedRecord {
  readonly kind: "prepared";
  /** Counts the batches from 1. */
  readonly sequence: number;
  /** At least one, in the order in which they were evaluated. */
  readonly inputs: readonly ConsumedInput[];
  /** Rows of results. */
  readonly rows: number;
  readonly outputs: readonly StagedOutput[];
  readonly checkpoint: { readonly file: string; readonly sha256: string };
}

/** All results of the batch are in the sink. */
export interface CommittedRecord {
  readonly kind: "committed";
  readonly sequence: number;
}

/** A file that is passed over. */
export interface SkippedRecord {
  readonly kind: "skipped";
  readonly path: string;
  /** `NO_FILE` for what is no regular file. */
  readonly sha256: string;
  readonly reason: string;
}

/** Cancelled: by the next run; interrupted: by the end of the process. */
export type RunOutcome = "done" | "failed" | "cancelled" | "interrupted";

/** A run came to its end. */
export interface RanRecord {
  readonly kind: "ran";
  readonly startedAt: string;
  readonly endedAt: string;
  readonly outcome: RunOutcome;
  readonly files: number;
  readonly rows: number;
  readonly error: string | null;
}

export type JournalRecord =
  | BeginRecord
  | UniverseRecord
  | PreparedRecord
  | CommittedRecord
  | SkippedRecord
  | RanRecord;
