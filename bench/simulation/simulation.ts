import type { ScheduledNode } from "../../src/schedule/events.ts";
import type { SchedulerOptions } from "../../src/schedule/scheduler.ts";

/** A node of a graph whose schedule is simulated. */
export interface SimulatedNode extends ScheduledNode {
  readonly kind: string;
  /** Bytes that it writes for a block. */
  readonly bytes: number;
}

export interface SimulationOptions {
  readonly executors: number;
  /** Runs of the graph one after the other. Default 1. */
  readonly blocks?: number;
  /** Blocks that may be under way at a time. Default 3, as in the engine. */
  readonly overlap?: number;
  readonly scheduler?: SchedulerOptions;
  /** What the scheduler knows of the nodes. Default: the truth, without the noise. */
  readonly estimates?: readonly ScheduledNode[];
  readonly latencies?: Partial<Latencies>;
  /** What the scheduler's own time costs. Default: as measured. */
  readonly schedulerTime?: SchedulerTime;
  /** Spread of the parts' real costs around the estimates: sigma of a lognormal factor of mean 1. Default 0. */
  readonly noise?: number;
  readonly seed?: number;
}

/** ns that messages between threads take. */
export interface Latencies {
  /** Until a thread that sleeps has woken up and sees a record. */
  readonly wakeNs: number;
  /** Until a thread that runs, or looks for records, sees one. */
  readonly busyNs: number;
  /** How long a thread looks for records before it sleeps. */
  readonly spinNs: number;
  /** From the end of a block to the request for another one, by way of the main thread. */
  readonly mainNs: number;
}

export const LATENCIES_DEFAULT: Latencies = { wakeNs: 5_000, busyNs: 1_000, spinNs: 0, mainNs: 20_000 };

export type SchedulerTime =
  /** The time that each call of the scheduler really took, times a factor. */
  | { readonly kind: "measured"; readonly factor: number }
  /** The same ns for every event: the same schedule every time. */
  | { readonly kind: "fixed"; readonly nsPerEvent: number };

/** What became of one part. Times are in ns from the start. */
export interface SimulatedPart {
  readonly block: number;
  readonly node: number;
  readonly part: number;
  readonly executor: number;
  /** When it was put into the executor's queue. */
  readonly queued: number;
  readonly start: number;
  readonly end: number;
}

export interface Simulation {
  /** In the order in which they started. */
  readonly parts: readonly SimulatedPart[];
  /** When the last part ended. */
  readonly makespanNs: number;
  /** Time that the scheduler ran. */
  readonly schedulerNs: number;
  readonly steals: { readonly asked: number; readonly taken: number };
  /** Parts in one queue at most, the running one left aside. */
  readonly queueMax: number;
}
