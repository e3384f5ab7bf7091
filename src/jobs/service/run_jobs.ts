/** Runs the jobs of a configuration: all of them once, or each at its due times until it is stopped. */
import { FactorloomError } from "../../errors.ts";
import { type Clock, systemClock } from "../clock/clock.ts";
import { Schedule } from "../clock/schedule.ts";
import type { JobConfig, RunConfig } from "../config/config.ts";
import { JobStore } from "../ledger/job_store.ts";
import { JournalLock } from "../ledger/journal_lock.ts";
import type { EndedRun, RunOutcome } from "../ledger/records.ts";
import { storing } from "../ledger/storing.ts";
import { BATCH_LIMITS, type BatchLimits } from "./evaluate_batch.ts";
import { type LoopEvent, loopJob, Superseded } from "./job_loop.ts";
import { JobRunner } from "./job_runner.ts";
import { type Log, openLog } from "./log.ts";
import { JobMetrics, serveMetrics } from "./metrics.ts";
import { retrying } from "./retry.ts";
import type { RunEvent, RunSignals } from "./run_events.ts";
import { SharedHost } from "./shared_host.ts";

export interface RunJobsOptions {
  /** Run every job once, now, one after the other. */
  readonly once: boolean;
  /** After an abort no run begins, and the current one ends after the files that it has begun to read. */
  readonly stop: AbortSignal;
  readonly clock?: Clock;
  readonly log?: Log;
  /** Default: `BATCH_LIMITS`. */
  readonly limits?: BatchLimits;
  /** A job whose results are made again, however much that is. */
  readonly apply?: string | undefined;
  /** With `once`: make all results of the jobs again from the input, whatever their sinks hold. */
  readonly repairs?: boolean;
}

/**
 * @returns with `once` the first failure of a run, or the reason of `stop` if work is left; else null, since a process
 *   that runs on schedule survives failures.
 * @throws ResourceError E450 if the journal is in use, for the port, E403 for threads; DataError E360 for a damaged
 *   ledger.
 */
export async function runJobs(config: RunConfig, options: RunJobsOptions): Promise<Error | null> {
  const lock = await storing(config.journal, () => JournalLock.take(config.journal));
  try {
    return await runLocked(config, options);
  } finally {
    await lock.release();
  }
}

async function runLocked(config: RunConfig, options: RunJobsOptions): Promise<Error | null> {
  const {
    clock = systemClock,
    log = openLog(config.logLevel, "json"),
    limits = BATCH_LIMITS,
    once,
    stop,
    apply,
    repairs = false,
  } = options;
  await using opened = new AsyncDisposableStack();
  const logStop = () => log.info({}, "stopping");
  stop.addEventListener("abort", logStop, { once: true });
  opened.defer(() => stop.removeEventListener("abort", logStop));
  const host = new SharedHost(config.engine);
  const metrics = new JobMetrics(() => host.metrics);
  if (config.metricsPort !== null) {
    const { port, close } = await serveMetrics(metrics, config.metricsPort);
    opened.defer(close);
    log.info({ port }, "metrics");
  }
  opened.defer(() => host.close());
  await host.current();
  const jobs: ScheduledJob[] = [];
  for (const job of config.jobs) {
    const store = await JobStore.open(config.journal, job.name, repairs ? "repair" : "write");
    const scheduled = new ScheduledJob(job, store, host, { clock, log, metrics, limits, apply, repairs });
    opened.defer(() => scheduled.close());
    jobs.push(scheduled);
  }
  if (once) return await runOnce(jobs, stop, log);
  log.info({ jobs: jobs.length }, "started");
  await Promise.all(jobs.map((job) => job.loop(stop)));
  log.info({}, "stopped");
  return null;
}

async function runOnce(jobs: readonly ScheduledJob[], stop: AbortSignal, log: Log): Promise<Error | null> {
  const failures = new Map<string, Error>();
  for (const job of jobs) {
    if (stop.aborted) return stop.reason as Error;
    const failure = await job.run({ abort: new AbortController().signal, stop });
    if (failure !== null && failure === stop.reason) return failure;
    if (failure !== null) failures.set(job.name, failure);
  }
  // The error that ends the process is the first one only.
  if (failures.size > 1) log.error({ jobs: [...failures.keys()] }, "jobs failed");
  const [first = null] = failures.values();
  return first;
}

/** What all jobs of a process share. */
interface JobServices {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: JobMetrics;
  readonly limits: BatchLimits;
  readonly apply: string | undefined;
  readonly repairs: boolean;
}

/** A job with its ledger, runner, log and metrics. */
class ScheduledJob {
  readonly #job: JobConfig;
  readonly #store: JobStore;
  readonly #runner: JobRunner;
  readonly #services: JobServices;

  constructor(job: JobConfig, store: JobStore, host: SharedHost, services: JobServices) {
    this.#job = job;
    this.#store = store;
    this.#services = services;
    const report = (event: RunEvent) => reportRun(job.name, event, services);
    this.#runner = new JobRunner(job, host, store, services.limits, report);
  }

  get name(): string {
    return this.#job.name;
  }

  async loop(stop: AbortSignal): Promise<void> {
    const { lastRun } = this.#store.ledger;
    const { missed, overlap, schedule } = this.#job;
    await loopJob(
      {
        schedule: new Schedule(schedule),
        missed,
        overlap,
        clock: this.#services.clock,
        lastRunMs: lastRun === null ? null : Date.parse(lastRun.startedAt),
        run: async (_due, signal) => {
          const { ledger } = this.#store;
          const before = ledger.committed.files;
          await this.run({ abort: signal, stop });
          return ledger.committed.files - before;
        },
        onEvent: (event) => reportLoop(this.name, event, this.#services),
      },
      stop,
    );
  }

  /**
   * Runs the job with retries, none after `stop`, and keeps the outcome. Never rejects: returns the failure, which may
   * be the reason of the signal that ended the run early.
   */
  async run(signals: RunSignals): Promise<Error | null> {
    const { clock, log, metrics, apply, repairs } = this.#services;
    const { name: job, retries } = this.#job;
    const startedMs = clock.now();
    const before = this.#store.ledger.committed;
    const failure = await retrying(
      () =>
        storing(`job ${job}`, () =>
          repairs ? this.#runner.repair(signals) : this.#runner.run(signals, apply === job),
        ),
      retries,
      clock,
      AbortSignal.any([signals.abort, signals.stop]),
      (error, waitMs) => {
        metrics.retries.inc({ job });
        log.warn({ job, error: error.message, waitMs }, "retry");
      },
    ).then(
      () => null,
      (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
    );
    const outcome = outcomeOf(failure, signals.stop);
    const { files, rows } = this.#store.ledger.committed;
    const record: EndedRun = {
      startedAt: new Date(startedMs).toISOString(),
      endedAt: new Date(clock.now()).toISOString(),
      outcome,
      files: files - before.files,
      rows: rows - before.rows,
      error: failure?.message ?? null,
    };
    return this.#recordRun(record, failure);
  }

  async close(): Promise<void> {
    await this.#runner.close();
  }

  #recordRun(record: EndedRun, failure: Error | null): Error | null {
    const { log, metrics } = this.#services;
    const { name: job } = this.#job;
    const { outcome, files, rows, error, startedAt, endedAt } = record;
    const ms = Date.parse(endedAt) - Date.parse(startedAt);
    metrics.ran(job, outcome, ms / 1_000, Date.parse(endedAt));
    if (outcome === "failed")
      log.error({ job, files, rows, ms, error, stack: stackOf(failure) }, "run failed");
    else log.info({ job, files, rows, ms }, `run ${outcome}`);
    // A full disk must not end the other jobs: the run is complete or rolled back without this record.
    try {
      this.#store.ledger.endRun(record);
      return failure;
    } catch (error) {
      const unrecorded = error as Error;
      log.error({ job, error: unrecorded.message }, "the run could not be recorded");
      return failure ?? unrecorded;
    }
  }
}

/** Levels of events in the log; those of others are `info`. */
const LEVELS: Partial<Record<RunEvent["kind"], "debug" | "warn">> = {
  evaluated: "debug",
  step: "debug",
  skipped: "warn",
  waiting: "warn",
  late_rows: "warn",
  vanished_rows: "warn",
  changed_rows: "warn",
  unfinished: "warn",
  incomplete_rows: "warn",
};

function reportRun(job: string, event: RunEvent, { log, metrics }: JobServices): void {
  const { kind, ...fields } = event;
  metrics.count(job, event);
  log[LEVELS[kind] ?? "info"]({ job, ...fields }, kind);
}

function reportLoop(job: string, event: LoopEvent, { log, metrics }: JobServices): void {
  switch (event.kind) {
    case "next":
      metrics.nextRun(job, event.dueMs);
      log.debug({ job, due: timeText(event.dueMs) }, "next");
      return;
    case "waiting":
      metrics.waiting.set({ job }, event.count);
      return;
    case "missed":
      metrics.missed.inc({ job }, event.count);
      log.warn({ job, count: event.count, run: event.run }, "missed");
      return;
    case "overlap":
      metrics.overlaps.inc({ job });
      log.warn({ job, policy: event.policy, due: timeText(event.dueMs) }, "overlap");
      return;
    case "let_finish":
      log.warn(
        { job, cancelledRuns: event.cancelledRuns, due: timeText(event.dueMs) },
        "runs are cancelled before they commit anything: this one goes on to its end",
      );
      return;
    case "clock_set_back":
      log.warn({ job, now: timeText(event.nowMs) }, "the clock was set back: due times are computed again");
  }
}

function outcomeOf(failure: Error | null, stop: AbortSignal): RunOutcome {
  if (failure === null) return "done";
  if (failure instanceof Superseded) return "cancelled";
  return stop.aborted && failure === stop.reason ? "interrupted" : "failed";
}

function timeText(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** The stack of a bug; other errors need none. */
function stackOf(error: Error | null): string | undefined {
  return error === null || error instanceof FactorloomError ? undefined : error.stack;
}
