import type { RowsAmiss } from "../../data/job_tables/database_file.ts";

/** What happens in a run, for logs and metrics. */
export type RunEvent =
  /** A batch that a process before, or a run, had prepared. */
  | { readonly kind: "completed"; readonly sequence: number; readonly files: number; readonly rows: number }
  | { readonly kind: "skipped"; readonly path: string; readonly code: string; readonly reason: string }
  /** A file is still being written: it and those behind it wait for the next run. */
  | { readonly kind: "unfinished"; readonly path: string }
  | ({ readonly kind: "late_rows" | "vanished_rows" } & RowsAmiss)
  | { readonly kind: "incomplete_rows"; readonly count: number }
  | { readonly kind: "symbols"; readonly count: number }
  | { readonly kind: "rebuilding"; readonly reason: string; readonly files: number }
  /** The rows of a file are evaluated; they are committed with its batch. */
  | { readonly kind: "evaluated"; readonly path: string }
  | { readonly kind: "step"; readonly step: Step; readonly sequence: number; readonly files: number }
  | {
      readonly kind: "committed";
      readonly path: string;
      readonly rows: number;
      readonly evaluatedTo: string;
    };

/** What is done for a batch, in this order. */
export type Step = "staged" | "checkpointed" | "prepared" | "published";

/** How a run may be ended: at once, and what is not committed is as if never begun; or behind the file under way. */
export interface RunSignals {
  readonly abort: AbortSignal;
  readonly stop: AbortSignal;
}
