/** What the ledger of a job holds. Times of rows are texts of whole numbers: numbers would round them. */
import type { RowsDigest } from "../../data/job_tables/result_table.ts";
import type { TimeType } from "../../panel.ts";
import type { JobConfig } from "../config/config.ts";
import type { KnownTime } from "./time_table.ts";

/** A file whose rows were evaluated. */
export interface ConsumedInput {
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
  /** Empty for a file that is looked at again: only new times of it were taken. */
  readonly sha256: string;
}

/** Files, the times that belong to them now, and the columns that the digests of all times are of. */
export interface TakenInput {
  readonly inputs: readonly ConsumedInput[];
  readonly times: Iterable<KnownTime>;
  readonly digested: readonly string[];
}

/** Where a result is staged and where it is published; relative to the sink's folder, `target` may be a table's name. */
export interface OutputPaths {
  readonly staged: string;
  readonly target: string;
}

/** A finished result with the digests of its file and of its rows. */
export interface StagedOutput extends OutputPaths {
  readonly bytes: number;
  readonly sha256: string;
  /** Null for a sink of files. */
  readonly rows: RowsDigest | null;
}

/** What results are made with: the job as it was when they began, or when they were last rebuilt, and the shape of its first file. */
export interface BeginRecord {
  /** Random: identifies this ledger among those of jobs with the same name. */
  readonly id: string;
  /** Counts the rebuilds of the results, from 1. */
  readonly generation: number;
  /** Columns of the results besides time and symbol. */
  readonly factors: readonly string[];
  /** Of each factor that is computed. */
  readonly fingerprints: Readonly<Record<string, string>>;
  /** Digests of settings, and of the code, that results depend on, by name. */
  readonly settings: Readonly<Record<string, string>>;
  /** What the program is compiled of: new rows go on with it until the results are rebuilt. */
  readonly formulas: Pick<JobConfig, "program" | "call"> & {
    readonly texts: readonly (readonly [file: string, text: string])[];
  };
  readonly fieldNames: readonly string[];
  readonly groupNames: readonly string[];
  readonly time: { readonly name: string; readonly type: TimeType };
}

/** Columns that formulas may read. */
export type InputColumns = Pick<BeginRecord, "fieldNames" | "groupNames" | "time">;

/** The lanes of the panel. */
export interface Universe {
  readonly symbols: readonly string[];
  /**
   * What formulas read of the table of groups: `codes` has one index into `labels` for each symbol, -1 for none. Symbols had
   * others in rows up to some times, ascending.
   */
  readonly groups: readonly {
    readonly name: string;
    readonly labels: readonly string[];
    readonly codes: readonly number[];
    readonly earlier: readonly { readonly until: string; readonly codes: readonly number[] }[];
  }[];
}

/** Files whose results and checkpoint are on disk: the batch will be completed. */
export interface PreparedBatch extends TakenInput {
  /** Rows of results. */
  readonly rows: number;
  readonly outputs: readonly StagedOutput[];
  readonly lastTime: string;
  /** Null where nothing was evaluated: the state is made from the input. */
  readonly checkpoint: { readonly file: string; readonly sha256: string } | null;
}

/** A batch: how much it added, and where it ends. */
export interface Batch {
  /** Counts the batches from 1. */
  readonly sequence: number;
  readonly files: number;
  readonly rows: number;
  readonly outputs: number;
  readonly lastTime: string;
  readonly checkpoint: PreparedBatch["checkpoint"];
}

export type Counts = Pick<Batch, "files" | "rows" | "outputs">;

/** What the sink certainly holds, of all batches up to this one. */
export interface Committed extends Counts {
  readonly sequence: number;
  readonly lastTime: string | null;
}

/** Results that are on the disk, and will replace all those of before. */
export interface Rebuilt {
  readonly sequence: number;
  readonly begin: BeginRecord;
  readonly universe: Universe;
  readonly rows: number;
  readonly outputs: number;
  /** Whether the sink may hold anything before. */
  readonly isRepair: boolean;
}

/** A rebuild that is larger than a run does by itself. */
export interface WaitingRebuild {
  /** What has changed, in words. */
  readonly changed: string;
  readonly factors: readonly string[];
  /** Values to be computed. */
  readonly cells: number;
}

/** A file that is passed over while it is as it was. */
export interface SkippedInput {
  readonly path: string;
  /** `NO_FILE` for what is no regular file. */
  readonly sha256: string;
  readonly reason: string;
  readonly since: string;
}

/** A run is cancelled by the next run, interrupted by the end of the process. */
export type RunOutcome = "done" | "failed" | "cancelled" | "interrupted";

/** A run that has ended. */
export interface EndedRun {
  readonly startedAt: string;
  readonly endedAt: string;
  readonly outcome: RunOutcome;
  readonly files: number;
  readonly rows: number;
  readonly error: string | null;
}
