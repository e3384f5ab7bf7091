import type { ScheduledNode } from "../../src/schedule/events.ts";
import type { SchedulerOptions } from "../../src/schedule/scheduler.ts";
import type { MachineCosts } from "./machine.ts";

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
  /** Whether each block is a call of its own, as rows of sessions are. Default false. */
  readonly areRows?: boolean;
  readonly scheduler?: SchedulerOptions;
  /** What the scheduler knows of the nodes. Default: the truth, without the noise. */
  readonly estimates?: readonly ScheduledNode[];
  /** Default: `machineCosts` at their worst. */
  readonly machine?: Partial<MachineCosts>;
  /** Spread of the parts' real costs around the estimates: sigma of a lognormal factor of mean 1. Default 0. */
  readonly noise?: number;
  readonly seed?: number;
}

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
  /** When the scheduler knew that the last block had ended. */
  readonly makespanNs: number;
  /** Time that the scheduler ran. */
  readonly schedulerNs: number;
  readonly steals: { readonly asked: number; readonly taken: number };
  /** Parts in one queue at most, the running one left aside. */
  readonly queueMax: number;
}
