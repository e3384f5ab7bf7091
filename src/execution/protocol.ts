import type { Block, KernelSet } from "../kernel/kernel_set.ts";
import type { PackedOperator } from "../operator/transfer.ts";
import type { GroupColumn } from "../panel.ts";
import type { Plan } from "../plan/plan.ts";
import type { RunEnd, ScheduledNode } from "../schedule/events.ts";
import type { Mailbox } from "./mailbox.ts";
import type { PartFailure } from "./plan_failures.ts";

/** Record scheduler -> executor: run this part. Words: plan, node, part. */
export const RUN_WORDS = 3;

/** Record executor -> scheduler: what became of a part. Words: status, plan, node, part, seconds, nanoseconds. */
export const DONE_WORDS = 6;

/** First word of a `DONE_WORDS` record. */
export const PART_STATUS = { done: 0, failed: 1 } as const;

/** The memory that an executor and the scheduler share. */
export interface ExecutorLink {
  readonly runs: SharedArrayBuffer;
  readonly completions: SharedArrayBuffer;
  /** Wakes the executor. */
  readonly header: Int32Array<SharedArrayBuffer>;
  /** Plan, node and part that the executor began last: who is to blame if it is lost. */
  readonly running: Int32Array<SharedArrayBuffer>;
}

/** What an executor's loop is started with. */
export interface ExecutorTask {
  /** Index of the executor, for scratch space of its own. */
  readonly executor: number;
  /** Module that exports `openRunner`. */
  readonly runnerUrl: string;
  readonly mailbox: Mailbox;
  readonly link: ExecutorLink;
  /** Wakes the scheduler. */
  readonly schedulerHeader: Int32Array<SharedArrayBuffer>;
}

/** What the scheduler's loop is started with. */
export interface SchedulerTask {
  readonly mailbox: Mailbox;
  readonly queueParts: number;
}

/** What every executor needs to run parts of a plan; columns are shared, not copied. */
export interface PlanData {
  readonly plan: Plan;
  readonly kernels: KernelSet;
  /** The arena. */
  readonly memory: WebAssembly.Memory;
  /** Operators of the plan beyond the built-in ones. */
  readonly operators: readonly PackedOperator[];
  /** Numeric input columns `[inputRows x lanes]`. */
  readonly fields: ReadonlyMap<string, Float64Array<SharedArrayBuffer>>;
  readonly groups: ReadonlyMap<string, GroupColumn>;
  /** Values of the numeric params: one for all rows, or one for each input row. */
  readonly params: Readonly<Record<string, number | Float64Array<SharedArrayBuffer>>>;
  /** One column `[resultRows x lanes]` per output of the plan; null for outputs that are not kept. */
  readonly results: readonly (Float64Array<SharedArrayBuffer> | null)[];
}

/** `load`: posted once per executor when a plan is opened. */
export interface LoadMessage extends PlanData {
  readonly kind: "load";
  readonly id: number;
  /** The block of the run that is under way (`writeBlock`). */
  readonly blockWords: Float64Array<SharedArrayBuffer>;
}

export type MainToExecutor =
  | LoadMessage
  /** The plan was closed: drop its buffers. */
  | { readonly kind: "release"; readonly id: number }
  | { readonly kind: "stop" };

export type ExecutorToMain =
  | { readonly kind: "hello" }
  /** Posted before the `failed` record is pushed. */
  | { readonly kind: "failed"; readonly plan: number; readonly failure: PartFailure };

export type MainToScheduler =
  | {
      readonly kind: "opened";
      readonly plan: number;
      readonly nodes: readonly ScheduledNode[];
      /** Measured ns of each node, summed over parts and runs, written by the scheduler thread. */
      readonly nodeNs: Float64Array<SharedArrayBuffer>;
    }
  | { readonly kind: "submitted"; readonly plan: number }
  | { readonly kind: "cancel"; readonly plan: number }
  | { readonly kind: "closed"; readonly plan: number }
  | { readonly kind: "joined"; readonly executor: number; readonly link: ExecutorLink }
  | { readonly kind: "fault"; readonly executor: number }
  | { readonly kind: "stop" };

export type SchedulerToMain = { readonly kind: "hello" } | RunEnd;

/** Makes the words that carry a block from the main thread to the executors: no message is posted for a run. */
export function createBlockWords(): Float64Array<SharedArrayBuffer> {
  return new Float64Array(new SharedArrayBuffer(5 * Float64Array.BYTES_PER_ELEMENT));
}

/** To be called before the scheduler hears of the run; its rings order the words behind it. */
export function writeBlock(words: Float64Array, block: Block): void {
  words[0] = block.firstRow;
  words[1] = block.rowCount;
  words[2] = block.generation;
  words[3] = block.inputRow;
  words[4] = block.outputRow;
}

export function readBlock(words: Float64Array): Block {
  return {
    firstRow: words[0]!,
    rowCount: words[1]!,
    generation: words[2] === 0 ? 0 : 1,
    inputRow: words[3]!,
    outputRow: words[4]!,
  };
}
