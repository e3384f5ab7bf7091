/** A configuration of jobs with defaults filled in. */
import type { ParamValue } from "../../ast/param_value.ts";
import type { Sessions } from "../../evaluation/restart_options.ts";

export type OverlapPolicy = "skip" | "queue" | "cancel";
export type MissedPolicy = "run_once" | "skip" | "run_all";
/** On a file that must not be used, the run fails or skips the file. */
export type BadInputPolicy = "fail" | "skip";

/** Names of columns that differ from the defaults. */
export interface ColumnNames {
  readonly timeColumn?: string;
  readonly symbolColumn?: string;
  /** New names of columns: `{ close: "px_last" }`. */
  readonly rename?: Readonly<Record<string, string>>;
}

/** How the rows of a source are read. */
export interface RowReading extends ColumnNames {
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

/** The sessions of a calendar as an option of a call. */
export function sessionsOf({ calendar: { sessions }, timezone }: ScheduleConfig): Sessions {
  const text = (minute: number) =>
    [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, "0")).join(":");
  return {
    sessions: sessions.map(({ startMinute, endMinute }) => [text(startMinute), text(endMinute)]),
    timezone,
  };
}

export interface RetryConfig {
  readonly count: number;
  /** Wait before the first retry; doubles with each retry. */
  readonly backoffMs: number;
}

export interface JobConfig {
  readonly name: string;
  readonly formulas: { readonly files: readonly string[]; readonly dialect?: string };
  readonly source: FileSource | QuerySource;
  /** Path of a table with symbol and group columns. */
  readonly groups?: string;
  readonly sink: SinkConfig;
  readonly schedule: ScheduleConfig;
  readonly params: Readonly<Record<string, ParamValue>>;
  readonly select?: readonly string[];
  /** Whether windows reach back over the start of a session. */
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
