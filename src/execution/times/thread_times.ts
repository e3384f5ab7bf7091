/**
 * What the time of a pool's threads went to, summed since the pool began, in ms. An executor's time is in exactly one of
 * the first six, from the end of its first part to the end of its last.
 */
export interface ThreadTimes {
  /** It ran parts. */
  readonly running: number;
  /** No run was under way. */
  readonly noRun: number;
  /** Inputs of its next part were not complete: other executors computed them. */
  readonly noReady: number;
  /** Its next part was ready, and the scheduler had not handed it out. */
  readonly scheduler: number;
  /** Its next part was ready and handed out, and the executor idled: it woke up, or had not seen it. */
  readonly waking: number;
  /** It had its next part when it ended the one before: to report that one and to take this one. */
  readonly taking: number;
  /** The scheduler's thread handled events. */
  readonly handling: number;
  /** Some run was under way for the scheduler. */
  readonly underWay: number;
  /** Counts, beginning here: events that the scheduler handled. */
  readonly events: number;
  readonly parts: number;
  /** Parts whose last input was completed by another executor. */
  readonly hops: number;
  readonly runs: number;
  /** How often a thread went to sleep: to wake it up again costs a call into the system. */
  readonly sleeps: number;
}

/** What an executor's time goes to. */
export const EXECUTOR_TIMES = ["running", "noRun", "noReady", "scheduler", "waking", "taking"] as const;
export type ExecutorTime = (typeof EXECUTOR_TIMES)[number];

const SUMMED = [
  ...EXECUTOR_TIMES,
  "handling",
  "underWay",
  "events",
  "parts",
  "hops",
  "runs",
] as const satisfies readonly (keyof ThreadTimes)[];

export type Summed = (typeof SUMMED)[number];

/** Where each sum stands among the words. */
export const SUM = Object.fromEntries(SUMMED.map((name, index) => [name, index])) as Readonly<
  Record<Summed, number>
>;

/** The words of the sums: one writer, any number of readers. */
export function createTimeSums(): Float64Array<SharedArrayBuffer> {
  return new Float64Array(new SharedArrayBuffer(SUMMED.length * Float64Array.BYTES_PER_ELEMENT));
}

/** @param sleeps how often threads went to sleep */
export function timesOf(sums: Float64Array, sleeps: number): ThreadTimes {
  const named = Object.fromEntries(SUMMED.map((name, index) => [name, sums[index]!])) as Record<
    Summed,
    number
  >;
  return { ...named, sleeps };
}
