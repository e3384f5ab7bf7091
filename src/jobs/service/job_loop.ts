/** When the runs of a job begin: at its due times, after downtime, one at a time. Knows clocks, but no engine. */
import type { Clock } from "../clock/clock.ts";
import type { Schedule } from "../clock/schedule.ts";
import type { MissedPolicy, OverlapPolicy } from "../config/config.ts";

/** Due times that are made up for after downtime, at most, and that may wait for the run before. */
const MISSED_RUNS_MAX = 1_000;
const WAITING_RUNS_MAX = 100;
/** Runs in a row that the next one may cancel though they committed nothing: more, and the job would never get on. */
const FRUITLESS_RUNS_MAX = 2;
/** A run that begins so late is not taken for missed. */
const LATE_MS_MAX = 60_000;

export interface JobLoopOptions {
  readonly schedule: Schedule;
  readonly missed: MissedPolicy;
  readonly overlap: OverlapPolicy;
  readonly clock: Clock;
  /** When the last run started, in ms since 1970; null if there was none. */
  readonly lastRunMs: number | null;
  /**
   * Runs the job once and gives how many files it committed; never rejects. An abort ends it, and what it has not
   * committed is as if never begun.
   */
  readonly run: (dueMs: number, signal: AbortSignal) => Promise<number>;
  readonly onEvent: (event: LoopEvent) => void;
}

export type LoopEvent =
  | { readonly kind: "missed"; readonly count: number; readonly run: number }
  | { readonly kind: "overlap"; readonly policy: OverlapPolicy; readonly dueMs: number }
  /** The run under way goes on although the policy is `cancel`. */
  | { readonly kind: "let_finish"; readonly cancelledRuns: number; readonly dueMs: number }
  | { readonly kind: "clock_set_back"; readonly nowMs: number }
  | { readonly kind: "next"; readonly dueMs: number | null };

/** The reason with which a run is aborted when the next one is due. */
export class Superseded extends Error {
  constructor() {
    super("the next run is due");
  }
}

/** Runs a job at its due times until the signal says that no further run shall begin; ends with the run under way. */
export async function loopJob(options: JobLoopOptions, stop: AbortSignal): Promise<void> {
  const { schedule, clock, lastRunMs, onEvent } = options;
  const runs = new RunQueue(options, stop);
  let after = clock.now();
  if (lastRunMs !== null) runs.makeUpFor(schedule.between(lastRunMs, after, MISSED_RUNS_MAX), after);
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
    // The machine slept, or the clock was set: what was due meanwhile was missed.
    const meanwhile = schedule.between(dueMs, after, MISSED_RUNS_MAX);
    if (meanwhile.length === 0) runs.add(dueMs);
    else runs.makeUpFor([dueMs, ...meanwhile], after);
  }
  await runs.ended();
}

/** The run under way, and those that wait for it. */
class RunQueue {
  readonly #options: JobLoopOptions;
  readonly #stop: AbortSignal;
  readonly #waiting: number[] = [];
  /** Runs in a row that were cancelled and had committed nothing. */
  #fruitlessRuns = 0;
  #underWay: { readonly controller: AbortController; readonly done: Promise<void> } | null = null;

  constructor(options: JobLoopOptions, stop: AbortSignal) {
    this.#options = options;
    this.#stop = stop;
  }

  /** A due time has come. */
  add(dueMs: number): void {
    const { overlap, onEvent } = this.#options;
    if (this.#underWay !== null) {
      onEvent({ kind: "overlap", policy: overlap, dueMs });
      if (overlap === "skip" || this.#waiting.length >= WAITING_RUNS_MAX) return;
      if (overlap === "cancel") this.#cancel(this.#underWay.controller, dueMs);
    }
    if (overlap !== "queue") this.#waiting.length = 0;
    this.#waiting.push(dueMs);
    this.#begin();
  }

  /** Due times have passed without a run. */
  makeUpFor(due: readonly number[], nowMs: number): void {
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
    while (this.#underWay) await this.#underWay.done;
  }

  #begin(): void {
    if (this.#underWay !== null || this.#stop.aborted) return;
    const dueMs = this.#waiting.shift();
    if (dueMs === undefined) return;
    const controller = new AbortController();
    const done = this.#options.run(dueMs, controller.signal).then((committed) => {
      this.#fruitlessRuns = controller.signal.aborted && committed === 0 ? this.#fruitlessRuns + 1 : 0;
      this.#underWay = null;
      this.#begin();
    });
    this.#underWay = { controller, done };
  }
}
