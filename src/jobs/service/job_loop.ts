/** Starts the runs of a job, one at a time: at its due times, and after downtime. Knows clocks, but no engine. */
import type { Clock } from "../clock/clock.ts";
import type { Schedule } from "../clock/schedule.ts";
import type { MissedPolicy, OverlapPolicy } from "../config/config.ts";

/** Missed due times that are run after downtime, at most. */
const MISSED_RUNS_MAX = 1_000;
/** Due times that may wait for the current run. */
const WAITING_RUNS_MAX = 100;
/** After this many cancelled runs that committed nothing, the next one may finish: else the job would make no progress. */
const FRUITLESS_RUNS_MAX = 2;
/** A run that begins at most this late is not missed. */
const LATE_MS_MAX = 60_000;

export interface JobLoopOptions {
  readonly schedule: Schedule;
  readonly missed: MissedPolicy;
  readonly overlap: OverlapPolicy;
  readonly clock: Clock;
  /** Start of the last run, in ms since 1970; null before the first run. */
  readonly lastRunMs: number | null;
  /**
   * Runs the job once and returns how many files it committed; never rejects. An abort ends the run and discards what it
   * has not committed.
   */
  readonly run: (dueMs: number, signal: AbortSignal) => Promise<number>;
  readonly onEvent: (event: LoopEvent) => void;
}

export type LoopEvent =
  | { readonly kind: "missed"; readonly count: number; readonly run: number }
  | { readonly kind: "overlap"; readonly policy: OverlapPolicy; readonly dueMs: number }
  /** Due times that wait for the current run. */
  | { readonly kind: "waiting"; readonly count: number }
  /** The current run goes on although the policy is `cancel`. */
  | { readonly kind: "let_finish"; readonly cancelledRuns: number; readonly dueMs: number }
  | { readonly kind: "clock_set_back"; readonly nowMs: number }
  | { readonly kind: "next"; readonly dueMs: number | null };

/** The reason with which a run is aborted when the next one is due. */
export class Superseded extends Error {
  constructor() {
    super("the next run is due");
  }
}

/** Runs a job at its due times until `stop` is aborted, then waits for the current run. */
export async function loopJob(options: JobLoopOptions, stop: AbortSignal): Promise<void> {
  const { schedule, clock, lastRunMs, onEvent } = options;
  const runs = new RunQueue(options, stop);
  let after = clock.now();
  if (lastRunMs !== null) runs.addMissed(schedule.between(lastRunMs, after, MISSED_RUNS_MAX), after);
  for (;;) {
    const dueMs = schedule.next(after);
    onEvent({ kind: "next", dueMs });
    if (dueMs === null) break;
    await clock.sleepUntil(dueMs, stop);
    if (stop.aborted) break;
    after = clock.now();
    if (after < dueMs) {
      onEvent({ kind: "clock_set_back", nowMs: after });
      continue;
    }
    // Due times that passed while the machine slept, or by which the clock was set forward, were missed.
    const meanwhile = schedule.between(dueMs, after, MISSED_RUNS_MAX);
    if (meanwhile.length === 0) runs.add(dueMs);
    else runs.addMissed([dueMs, ...meanwhile], after);
  }
  await runs.ended();
}

/** The current run, and due times that wait for it. */
class RunQueue {
  readonly #options: JobLoopOptions;
  readonly #stop: AbortSignal;
  readonly #waiting: number[] = [];
  /** Consecutive runs that were cancelled before they committed anything. */
  #fruitlessRuns = 0;
  #current: { readonly controller: AbortController; readonly done: Promise<void> } | null = null;

  constructor(options: JobLoopOptions, stop: AbortSignal) {
    this.#options = options;
    this.#stop = stop;
  }

  /** A due time has come. */
  add(dueMs: number): void {
    const { overlap, onEvent } = this.#options;
    if (this.#current !== null) {
      onEvent({ kind: "overlap", policy: overlap, dueMs });
      if (overlap === "skip" || this.#waiting.length >= WAITING_RUNS_MAX) return;
      if (overlap === "cancel") this.#cancel(this.#current.controller, dueMs);
    }
    if (overlap !== "queue") this.#waiting.length = 0;
    this.#waiting.push(dueMs);
    this.#begin();
  }

  /** Due times have passed without a run. */
  addMissed(due: readonly number[], nowMs: number): void {
    const { missed, onEvent } = this.#options;
    if (due.length === 0) return;
    const last = due.slice(-1);
    const chosen = { run_all: due, run_once: last, skip: last.filter((ms) => nowMs - ms <= LATE_MS_MAX) }[
      missed
    ];
    onEvent({ kind: "missed", count: due.length, run: chosen.length });
    this.#waiting.push(...chosen);
    this.#begin();
  }

  #cancel(controller: AbortController, dueMs: number): void {
    const cancelledRuns = this.#fruitlessRuns;
    if (cancelledRuns < FRUITLESS_RUNS_MAX) controller.abort(new Superseded());
    else this.#options.onEvent({ kind: "let_finish", cancelledRuns, dueMs });
  }

  async ended(): Promise<void> {
    while (this.#current) await this.#current.done;
  }

  #begin(): void {
    if (this.#current === null && !this.#stop.aborted && this.#waiting.length > 0)
      this.#run(this.#waiting.shift()!);
    this.#options.onEvent({ kind: "waiting", count: this.#waiting.length });
  }

  #run(dueMs: number): void {
    const controller = new AbortController();
    const done = this.#options.run(dueMs, controller.signal).then((committed) => {
      this.#fruitlessRuns = controller.signal.aborted && committed === 0 ? this.#fruitlessRuns + 1 : 0;
      this.#current = null;
      this.#begin();
    });
    this.#current = { controller, done };
  }
}
