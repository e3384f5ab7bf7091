/** What an engine may have of the machine, and how its threads share work. */
import { UsageError } from "../errors.ts";
import { type MemoryThresholds, THRESHOLD_OPTIONS } from "../evaluation/memory/thresholds.ts";
import { THREADS } from "../evaluation/options.ts";
import { COSTS, type CostChoice } from "../evaluation/stored_costs.ts";
import type { TraceSink } from "../execution/trace/trace_events.ts";
import { HANG, type HangOptions } from "../execution/watch/hang_watch.ts";
import { QUEUE_MS_MAX } from "../limits.ts";
import { FUNCTION, kindOf } from "../text/argument_kinds.ts";
import { MEMORY_LIMIT } from "../text/byte_size.ts";
import { type OptionKinds, optionsOf } from "../text/option_kinds.ts";

export interface EngineOptions {
  /**
   * Executor threads, at most 256; of more than there are available cores, that many start. Default: one per available
   * core, less one where there are more than three.
   */
  readonly threads?: number;
  /**
   * Memory for columns, operator state, results and the panels under evaluation, e.g. `"4GiB"` or a number of bytes;
   * default: 60 % of the machine's, or of the container's. What the process takes as a whole, beside what Node takes,
   * makes the engine spill and pause: `memoryThresholds`.
   */
  readonly memoryLimit?: string | number;
  /** At which shares of the limit the engine spills, pauses and, if asked to, refuses. */
  readonly memoryThresholds?: MemoryThresholds | undefined;
  /**
   * What operators cost, in ns per cell: chooses how work is cut and what goes first, never a bit of the results.
   * Default: `"calibrated"`, what `factorloom bench calibrate` has stored for this machine, else the built-in costs.
   */
  readonly costs?: CostChoice;
  /**
   * Work that the scheduler puts into a thread's queue at most while others have room, in ms: from 0, for one or two
   * parts, to 1,000. Short queues leave the choice of the thread open for longer, long ones wake threads less often. It
   * changes no bit of the results. Default: 3.
   */
  readonly queueMs?: number;
  /**
   * Takes what the threads do while they do it: every part that an executor runs, every step of the scheduler, queues,
   * steals. It changes no bit of the results and bounds its own memory: what the sink does not take in time is left out
   * and counted. Default: nothing is recorded, which costs nothing.
   */
  readonly trace?: TraceSink | undefined;
  /**
   * What to do about a part of an operator's work that takes 50 times as long as estimated and longer than `limitMs`: it
   * is reported once, and with `replaces` its thread is replaced as a lost one is. Default: a warning of the process
   * after 10 s, no replacement. False: nothing is watched.
   */
  readonly hang?: HangOptions | false | undefined;
}

const QUEUE_MS = `a number from 0 to ${QUEUE_MS_MAX}`;
const NO_QUEUE_MS = "leave it out, so that each plan has the queues that suit it";

export const ENGINE_OPTIONS: OptionKinds<EngineOptions> = {
  memoryLimit: MEMORY_LIMIT,
  memoryThresholds: optionsOf("memoryThresholds", THRESHOLD_OPTIONS),
  costs: COSTS,
  queueMs: {
    what: QUEUE_MS,
    fits: (given) => Number.isFinite(given) && (given as number) >= 0 && (given as number) <= QUEUE_MS_MAX,
    remedy: NO_QUEUE_MS,
    refuse: (_, given) => {
      const got = typeof given === "number" ? given : kindOf(given);
      return new UsageError("E528", `queueMs must be ${QUEUE_MS}, got ${got}`, NO_QUEUE_MS);
    },
  },
  trace: FUNCTION,
  hang: HANG,
  threads: THREADS,
};
