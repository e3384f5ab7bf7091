/** Runs the jobs of a configuration: all of them once, or each at its due times until it is told to stop. */
import { FactorloomError } from "../../errors.ts";
import type { EngineHost } from "../../evaluation/evaluation.ts";
import { startHost } from "../../evaluation/start_host.ts";
import { type Clock, systemClock } from "../clock/clock.ts";
import { Schedule } from "../clock/schedule.ts";
import type { JobConfig, RunConfig } from "../config/config.ts";
import { storing } from "../journal/durable.ts";
import { JobStore } from "../journal/job_store.ts";
import { JournalLock } from "../journal/journal_lock.ts";
import type { RanRecord, RunOutcome } from "../journal/records.ts";
import { BATCH_LIMITS, type BatchLimits } from "./evaluate_batch.ts";
import { type LoopEvent, loopJob, Superseded } from "./job_loop.ts";
import { JobRunner } from "./job_runner.ts";
import { type Log, openLog } from "./log.ts";
import { JobMetrics, type MetricsServer, serveMetrics } from "./metrics.ts";
import { retrying } from "./retry.ts";
import type { RunEvent, RunSignals } from "./run_events.ts";

export interface RunJobsOptions {
  /** Run every job once, now, one after the other. */
  readonly once: boolean;
  /** Aborted: no further run begins, the one under way ends behind the file that it is at. */
  readonly stop: AbortSignal;
  readonly clock?: Clock;
  readonly log?: Log;
  /** Default: `BATCH_LIMITS`. */
  readonly limits?: BatchLimits;
}

/**
 * @returns with `once` the first failure of a run, or the reason of `stop` if that left something undone; else null: a process that runs on schedule outlives failures.
 * @throws ResourceError E450 if the journal is in use, E451 for the port, E403 for threads; DataError E360 for a damaged
 *   journal.
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
  const { clock = systemClock, log = openLog(config.logLevel), limits = BATCH_LIMITS, once, stop } = options;
  const metrics = new JobMetrics();
  const jobs: ScheduledJob[] = [];
  let server: MetricsServer | null = null;
  let host: EngineHost | null = null;
  const tellStop = () => log.info({}, "stopping");
  stop.addEventListener("abort", tellStop, { once: true });
  try {
    if (config.metricsPort !== null) {
      server = await serveMetrics(metrics, config.metricsPort);
      log.info({ port: server.port }, "metrics");
    }
    host = await startHost(config.engine);
    for (const job of config.jobs)
      jobs.push(await ScheduledJob.open(job, host, config.journal, { clock, log, metrics, limits }));
    if (once) return await runOnce(jobs, stop, log);
    log.info({ jobs: jobs.length }, "started");
    await Promise.all(jobs.map((job) => job.loop(stop)));
    log.info({}, "stopped");
    return null;
  } finally {
    stop.removeEventListener("abort", tellStop);
    for (const job of jobs) await job.close();
    await host?.pool.close();
    await server?.close();
  }
}

async function runOnce(jobs: readonly ScheduledJob[], stop: AbortSignal, log: Log): Promise<Error | null> {
  const failures = new Map<string, Error>();
  for (const job of jobs) {
    if (stop.aborted) return stop.reason as Error;
    const failure = await job.run({ abort: new AbortController().signal, stop });
    if (failure !== null && failure === stop.reason) return failure;
    if (failure !== null) failures.set(job.name, failure);
  }
  // The error that ends the process tells of the first one only.
  if (failures.size > 1) log.error({ jobs: [...failures.keys()] }, "jobs failed");
  const [first = null] = failures.values();
  return first;
}

interface Tools {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: JobMetrics;
  readonly limits: BatchLimits;
}

/** A job with what tells of its runs. */
class ScheduledJob {
  readonly #job: JobConfig;
  readonly #store: JobStore;
  readonly #runner: JobRunner;
  readonly #tools: Tools;

  static async open(job: JobConfig, host: EngineHost, journal: string, tools: Tools): Promise<ScheduledJob> {
    const store = await JobStore.open(journal, job.name);
    return new ScheduledJob(job, host, journal, store, tools);
  }

  private constructor(job: JobConfig, host: EngineHost, journal: string, store: JobStore, tools: Tools) {
    this.#job = job;
    this.#store = store;
    this.#tools = tools;
    this.#runner = new JobRunner(job, host, store, journal, tools.limits, (event) => this.#tellRun(event));
  }

  get name(): string {
    return this.#job.name;
  }

  async loop(stop: AbortSignal): Promise<void> {
    const { lastRun } = this.#store.history;
    const { missed, overlap, schedule } = this.#job;
    await loopJob(
      {
        schedule: new Schedule(schedule),
        missed,
        overlap,
        clock: this.#tools.clock,
        lastRunMs: lastRun === null ? null : Date.parse(lastRun.startedAt),
        run: async (_due, signal) => {
          const { history } = this.#store;
          const before = history.committed.files;
          await this.run({ abort: signal, stop });
          return history.committed.files - before;
        },
        onEvent: (event) => this.#tellLoop(event),
      },
      stop,
    );
  }

  /**
   * One run with its retries, noted in the journal; gives what it failed with, the reason of the signal that ended it before
   * its time too, and never rejects. Without retries once stopped.
   */
  async run(signals: RunSignals): Promise<Error | null> {
    const { clock, log, metrics } = this.#tools;
    const { name: job, retries } = this.#job;
    const startedMs = clock.now();
    const before = this.#store.history.committed;
    const failure = await retrying(
      () => storing(`job ${job}`, () => this.#runner.run(signals)),
      retries,
      clock,
      AbortSignal.any([signals.abort, signals.stop]),
      (error, waitMs) => {
        metrics.retried(job);
        log.warn({ job, error: textOf(error), waitMs }, "retry");
      },
    ).then(
      () => null,
      (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
    );
    const outcome = outcomeOf(failure, signals.stop);
    const { files, rows } = this.#store.history.committed;
    const record: RanRecord = {
      kind: "ran",
      startedAt: new Date(startedMs).toISOString(),
      endedAt: new Date(clock.now()).toISOString(),
      outcome,
      files: files - before.files,
      rows: rows - before.rows,
      error: failure === null ? null : textOf(failure),
    };
    return await this.#noteRun(record, failure);
  }

  async close(): Promise<void> {
    await this.#runner.close();
  }

  async #noteRun(record: RanRecord, failure: Error | null): Promise<Error | null> {
    const { log, metrics } = this.#tools;
    const { name: job } = this.#job;
    const { outcome, files, rows, error, startedAt, endedAt } = record;
    const ms = Date.parse(endedAt) - Date.parse(startedAt);
    metrics.ran(job, outcome, ms / 1_000, Date.parse(endedAt));
    if (outcome === "failed")
      log.error({ job, files, rows, ms, error, stack: stackOf(failure) }, "run failed");
    else log.info({ job, files, rows, ms }, `run ${outcome}`);
    // A disk that is full must not end the other jobs: the run itself is complete, or rolled back, without this record.
    const unnoted = await this.#store.append(record).then(
      () => null,
      (reason: unknown) => reason as Error,
    );
    if (unnoted) log.error({ job, error: textOf(unnoted) }, "the run could not be noted");
    return failure ?? unnoted;
  }

  #tellRun(event: RunEvent): void {
    const { log, metrics } = this.#tools;
    const { kind, ...fields } = event;
    const { name: job } = this.#job;
    switch (event.kind) {
      case "evaluated":
      case "step":
        log.debug({ job, ...fields }, kind);
        return;
      case "skipped":
        metrics.skipped(job, event.code);
        log.warn({ job, ...fields }, kind);
        return;
      case "unfinished":
        log.warn({ job, ...fields }, kind);
        return;
      case "late_rows":
        metrics.lateRows(job, event.count);
        log.warn({ job, ...fields }, kind);
        return;
      case "vanished_rows":
        metrics.vanishedRows(job, event.count);
        log.warn({ job, ...fields }, kind);
        return;
      case "incomplete_rows":
        log.warn({ job, ...fields }, kind);
        return;
      case "rebuilding":
        metrics.rebuilt(job);
        break;
      case "committed":
        metrics.committed(job, 1, event.rows);
        break;
      case "completed":
        metrics.committed(job, event.files, event.rows);
        break;
    }
    log.info({ job, ...fields }, kind);
  }

  #tellLoop(event: LoopEvent): void {
    const { log, metrics } = this.#tools;
    const { name: job } = this.#job;
    switch (event.kind) {
      case "next":
        metrics.nextRun(job, event.dueMs);
        log.debug({ job, due: timeText(event.dueMs) }, "next");
        return;
      case "missed":
        metrics.missed(job, event.count);
        log.warn({ job, count: event.count, run: event.run }, "missed");
        return;
      case "overlap":
        metrics.overlapped(job);
        log.warn({ job, policy: event.policy, due: timeText(event.dueMs) }, "overlap");
        return;
      case "let_finish":
        log.warn(
          { job, cancelledRuns: event.cancelledRuns, due: timeText(event.dueMs) },
          "runs are cancelled before they commit anything: this one goes on to its end",
        );
        return;
      case "clock_set_back":
        log.warn(
          { job, now: timeText(event.nowMs) },
          "the clock was set back: due times are worked out again",
        );
        return;
    }
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

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Where a bug of ours happened; nobody needs the stack of a wrong file. */
function stackOf(error: Error | null): string | undefined {
  return error === null || error instanceof FactorloomError ? undefined : error.stack;
}
