import type { MisplacedRows } from "../../data/job_tables/database_file.ts";
import type { WaitingRebuild } from "../ledger/records.ts";
import type { Relabelled } from "../state/job_groups.ts";

/** Events of a run, for logs and metrics. */
export type RunEvent =
  /** A batch that an earlier process or run had prepared was published. */
  | { readonly kind: "completed"; readonly sequence: number; readonly files: number; readonly rows: number }
  | { readonly kind: "skipped"; readonly path: string; readonly code: string; readonly reason: string }
  /** A file is still being written: it and later files wait for the next run. */
  | { readonly kind: "unfinished"; readonly path: string }
  | ({ readonly kind: "late_rows" | "vanished_rows" | "changed_rows" } & MisplacedRows)
  | { readonly kind: "incomplete_rows"; readonly count: number }
  | { readonly kind: "symbols"; readonly count: number }
  | ({ readonly kind: "relabelled" } & Relabelled)
  | { readonly kind: "rebuilding"; readonly reason: string; readonly files: number }
  /** What has changed since the results were made: they are made again, or wait until that is applied. */
  | ({ readonly kind: "changed" | "waiting" | "rebuilt" } & WaitingRebuild)
  /** The rows of a file are evaluated; they are committed with its batch. */
  | { readonly kind: "evaluated"; readonly path: string }
  | { readonly kind: "step"; readonly step: Step; readonly sequence: number; readonly files: number }
  | {
      readonly kind: "committed";
      readonly path: string;
      readonly rows: number;
      readonly evaluatedTo: string;
    };

/** Steps of the commit of a batch, in order. */
export type Step = "staged" | "checkpointed" | "prepared" | "published";

/** `abort` ends a run at once and discards what is not committed; `stop` after the files that it has begun to read. */
export interface RunSignals {
  readonly abort: AbortSignal;
  readonly stop: AbortSignal;
}
