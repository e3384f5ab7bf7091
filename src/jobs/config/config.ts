/** What a file of jobs says, with the defaults filled in. */
import type { ParamValue } from "../../ast/param_value.ts";

export type OverlapPolicy = "skip" | "queue" | "cancel";
export type MissedPolicy = "run_once" | "skip" | "run_all";
/** What becomes of a file that must not be used: the run fails, or goes on without it. */
export type BadInputPolicy = "fail" | "skip";

/** Names of a table's columns where they are not the usual ones. */
export interface ColumnNames {
  readonly timeColumn?: string;
  readonly symbolColumn?: string;
  /** New names of columns: `{ close: "px_last" }`. */
  readonly rename?: Readonly<Record<string, string>>;
}

/** Files that appear; a folder, or a pattern such as `bars/*.parquet`. */
export interface FileSource extends ColumnNames {
  readonly kind: "files";
  readonly folder?: string;
  readonly pattern?: string;
}

/** A query over a DuckDB file whose result grows. */
export interface QuerySource extends ColumnNames {
  readonly kind: "duckdb";
  readonly database: string;
  readonly query: string;
}

export type SinkConfig =
  | { readonly kind: "parquet"; readonly folder: string }
  | { readonly kind: "arrow"; readonly folder: string }
  | { readonly kind: "duckdb"; readonly database: string; readonly table: string };

/** From a minute of the day to another one, both inclusive. */
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
  /** Wait before the first retry; doubled for each further one. */
  readonly backoffMs: number;
}

export interface JobConfig {
  readonly name: string;
  readonly formulas: { readonly files: readonly string[]; readonly dialect?: string };
  readonly source: FileSource | QuerySource;
  /** Table with symbol and group columns. */
  readonly groups?: string;
  readonly sink: SinkConfig;
  readonly schedule: ScheduleConfig;
  readonly params: Readonly<Record<string, ParamValue>>;
  readonly select?: readonly string[];
  /** False: no window reaches back over the start of a session. */
  readonly crossSession: boolean;
  readonly overlap: OverlapPolicy;
  readonly missed: MissedPolicy;
  readonly badInput: BadInputPolicy;
  readonly retries: RetryConfig;
}

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;

export interface RunConfig {
  readonly file: string;
  readonly jobs: readonly JobConfig[];
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly metricsPort: number | null;
  /** Folder of the journals. */
  readonly journal: string;
  readonly engine: { readonly threads?: number; readonly memoryLimitBytes?: number };
}
