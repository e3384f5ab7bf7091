/** A configuration of jobs with defaults filled in. */
import type { ReadPanelOptions } from "../../data/source/source_options.ts";

import type { HangOptions } from "../../execution/watch/hang_watch.ts";
import type { JobSpecs } from "./read_options.ts";

export type OverlapPolicy = "skip" | "queue" | "cancel";
export type MissedPolicy = "run_once" | "skip" | "run_all";
/** On a file that must not be used, the run fails or skips the file. */
export type BadInputPolicy = "fail" | "skip";

/** Where formulas or their settings change, the run fails or the results are rebuilt. */
export type ChangePolicy = "fail" | "rebuild";

/** How the rows of a source are read. */
export interface RowReading extends Omit<ReadPanelOptions, "groups"> {
  /** The memory limit of the engine, of which a part is for reading. */
  readonly memoryLimitBytes?: number;
}

/** Files in a folder, or of a pattern such as `bars/*.parquet`. */
export interface FileSource extends RowReading {
  readonly kind: "files";
  readonly folder?: string;
  readonly pattern?: string;
}

/** A query over a DuckDB file whose result grows. */
export interface QuerySource extends RowReading {
  readonly kind: "duckdb";
  readonly database: string;
  readonly query: string;
}

export type SinkConfig =
  | { readonly kind: "parquet"; readonly folder: string }
  | { readonly kind: "arrow"; readonly folder: string }
  | { readonly kind: "duckdb"; readonly database: string; readonly table: string };

/** Minutes of the day, both inclusive. */
export interface Session {
  readonly startMinute: number;
  readonly endMinute: number;
}

export interface CalendarConfig {
  readonly sessions: readonly Session[];
  /** Days without a run, `YYYY-MM-DD`. */
  readonly holidays: ReadonlySet<string>;
}

export interface ScheduleConfig {
  readonly cron: string;
  readonly timezone: string;
  readonly calendar: CalendarConfig;
}

export interface RetryConfig {
  readonly count: number;
  /** Wait before the first retry; doubles with each retry. */
  readonly backoffMs: number;
}

export interface JobConfig {
  readonly name: string;
  readonly formulas: { readonly files: readonly string[] };
  readonly program: JobSpecs["program"];
  /** Its series are read with each file; groups are joined for all symbols of the job. */
  readonly source: FileSource | QuerySource;
  readonly groups?: string;
  readonly sink: SinkConfig;
  readonly schedule: ScheduleConfig;
  readonly call: JobSpecs["call"];
  readonly overlap: OverlapPolicy;
  readonly missed: MissedPolicy;
  readonly badInput: BadInputPolicy;
  readonly retries: RetryConfig;
  readonly changes: ChangePolicy;
  /** Values that a run computes again by itself; a larger rebuild waits until it is applied. */
  readonly limit: number;
  /** Whether a rebuild drops the columns of factors that are gone. */
  readonly drop: boolean;
}

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;

export interface RunConfig {
  readonly file: string;
  readonly jobs: readonly JobConfig[];
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly metricsPort: number | null;
  /** Folder of the ledgers. */
  readonly journal: string;
  readonly engine: {
    readonly threads?: number | undefined;
    readonly memoryLimitBytes?: number | undefined;
    readonly hang?: HangOptions | false | undefined;
  };
}
