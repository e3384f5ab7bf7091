/** The one place for names, kinds and texts of metrics, by the conventions of Prometheus. */
import type { EngineMetrics } from "./engine_metrics.ts";

export type MetricKind = "counter" | "gauge" | "histogram";

/** What a metric is called and what it says. */
export interface MetricDefinition<Kind extends MetricKind = MetricKind> {
  readonly kind: Kind;
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper ends of the buckets of a histogram. */
  readonly buckets?: number[];
}

/** A metric for every number of the parts of `EngineMetrics`, by the name of its field. */
type PartDefinitions<Part> = Readonly<Record<keyof Part, MetricDefinition<"counter" | "gauge">>>;

const defined =
  <Kind extends MetricKind>(kind: Kind) =>
  (name: string, help: string, ...labels: readonly string[]): MetricDefinition<Kind> => ({
    kind,
    name: `factorloom_${name}`,
    help,
    labels,
  });
const counter = defined("counter");
const gauge = defined("gauge");

export const ENGINE_METRICS: {
  readonly [Part in Exclude<keyof EngineMetrics, "sessions">]: PartDefinitions<EngineMetrics[Part]>;
} & { readonly sessions: PartDefinitions<Omit<EngineMetrics["sessions"][number], "session">> } = {
  executors: {
    count: gauge("executors", "Executor threads that run"),
    lost: counter("lost_executors_total", "Executor threads that ended before the engine was closed"),
    busySeconds: counter("executor_busy_seconds_total", "Time that all executors spent in parts of blocks"),
    busyShare: gauge(
      "executor_busy_share",
      "Share of the executors' time since the start, in parts of blocks",
    ),
    hangs: counter("hangs_total", "Parts that were reported as hanging"),
  },
  memory: {
    limitBytes: gauge("memory_limit_bytes", "Memory limit of the engine"),
    managedBytes: gauge("memory_managed_bytes", "Columns, state, staged input, results and panels in use"),
    keptBytes: gauge("memory_kept_bytes", "Results in memory that wait to be read"),
    spilledBytes: gauge("memory_spilled_bytes", "Results on disk that wait to be read"),
    spilledBytesTotal: counter("spilled_bytes_total", "Results that were written to disk to wait there"),
    processBytes: gauge("memory_process_bytes", "Resident size of the process"),
    unmanagedBytes: gauge("memory_unmanaged_bytes", "Resident size that is neither managed nor kept"),
    unmanagedRecentBytes: gauge(
      "memory_unmanaged_recent_bytes",
      "What of the unmanaged bytes has come in the last 30 s, as far as they were read",
    ),
    waitingCount: gauge("memory_waiting_calls", "Calls that wait for room in memory"),
    isPaused: gauge("memory_paused", "1 while the process is so large that one call at a time begins blocks"),
  },
  live: {
    rows: counter("live_rows_total", "Rows of the pushes of all sessions, also of closed ones"),
    metBudgets: counter("live_met_budgets_total", "Tables of all sessions that came within their budget"),
    missedBudgets: counter(
      "live_missed_budgets_total",
      "Tables of all sessions that came after their budget",
    ),
    lateFactors: counter("live_late_factors_total", "Factors that budgets left for later, in all sessions"),
    skippedFactors: counter("live_skipped_factors_total", "Factors that budgets left out, in all sessions"),
  },
  sessions: {
    rows: counter("session_rows_total", "Rows of pushes", "session"),
    metBudgets: counter("session_met_budgets_total", "Tables that came within their budget", "session"),
    missedBudgets: counter("session_missed_budgets_total", "Tables that came after their budget", "session"),
    lateFactors: counter("session_late_factors_total", "Factors that budgets left for later", "session"),
    skippedFactors: counter("session_skipped_factors_total", "Factors that budgets left out", "session"),
    waitingCalls: gauge("session_waiting_calls", "Calls that wait for their turn", "session"),
  },
};

export const JOB_METRICS = {
  runs: counter("runs_total", "Runs that came to an end", "job", "outcome"),
  rows: counter("rows_total", "Rows of results committed", "job"),
  files: counter("files_total", "Input files committed", "job"),
  skipped: counter("skipped_files_total", "Input files skipped", "job", "code"),
  vanished_rows: counter("vanished_rows_total", "Rows that vanished from a query", "job"),
  changed_rows: counter("changed_rows_total", "Rows of a query that have other values now", "job"),
  late_rows: counter("late_rows_total", "Rows of a query that came too late", "job"),
  retries: counter("retries_total", "Runs tried again", "job"),
  rebuilds: counter("rebuilds_total", "States computed again from input", "job"),
  overlaps: counter("overlaps_total", "Due times during a run", "job"),
  missed: counter("missed_total", "Due times that passed without a run", "job"),
  waiting: gauge("waiting_runs", "Due times that wait for the run under way", "job"),
  success: gauge("last_success_seconds", "When the last good run ended, since 1970", "job"),
  next: gauge("next_run_seconds", "When the next run is due, since 1970", "job"),
  seconds: {
    ...defined("histogram")("run_seconds", "Length of runs", "job"),
    buckets: [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600],
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>;
