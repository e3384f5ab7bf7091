import type { Block, KernelSet } from "../kernel/kernel_set.ts";
import type { PackedOperator } from "../operator/transfer.ts";
import type { GroupColumn } from "../panel.ts";
import type { Plan } from "../plan/plan.ts";
import type { RunEnd, RunRequest, ScheduledNode } from "../schedule/events.ts";
import { QUEUE_SLOTS } from "../schedule/executor_queue.ts";
import type { SchedulerOptions } from "../schedule/scheduler.ts";
import type { Mailbox } from "./mailbox.ts";

/**
 * Record scheduler -> executor: run this part. Words: ticket, plan, block, node, part, call, weight as Float32, and 1 if
 * it was handed out ahead.
 */
export const RUN_WORDS = 8;

/** Places of some of them. */
export const RUN_WORD = { call: 5, weight: 6, isAhead: 7 } as const;

/** Record executor -> scheduler: what became of a part. Words: status, ticket, and two numbers of `packDone`. */
export const DONE_WORDS = 6;

/** First word of a `DONE_WORDS` record. */
export const PART_STATUS = { done: 0, failed: 1 } as const;

/**
 * Records that fit into a ring of parts. At most half of them are there where one more is stolen and left behind; to
 * them come those that are queued, and those of runs that ended early: of half a queue, until another part was run.
 */
export const RUN_RING_RECORDS = 8 * QUEUE_SLOTS;

/** Blocks of one plan that may be under way at a time; fewer than `BLOCK_SLOTS`. */
export const OVERLAPPING_BLOCKS_MAX = 3;

/** Block `n` is described in the `n mod BLOCK_SLOTS`th group of words. A power of two: numbers of blocks wrap around. */
const BLOCK_SLOTS = 4;
const BLOCK_SLOT_MASK = BLOCK_SLOTS - 1;
const BLOCK_WORDS = 6;

/** Where a word names no plan. */
export const NO_PLAN = -1;

/** The memory that an executor and the scheduler share. */
export interface ExecutorLink {
  readonly runs: SharedArrayBuffer;
  readonly completions: SharedArrayBuffer;
  /**
   * One word per slot of the executor's queue: one more than the ticket of the part that waits there, 0 once it is
   * begun or stolen. Owner and thief change it by compare-and-swap: one of them has the part.
   */
  readonly claims: Int32Array<SharedArrayBuffer>;
  /** The same ticket plus one where a part that was handed out ahead may be run, by the scheduler's word. */
  readonly released: Int32Array<SharedArrayBuffer>;
  /** Wakes the executor. */
  readonly header: Int32Array<SharedArrayBuffer>;
  /** 1 while the executor waits for parts. */
  readonly waiting: Int32Array<SharedArrayBuffer>;
  /** Plan, block, node and part that the executor began last: who is to blame if it is lost. */
  readonly running: Int32Array<SharedArrayBuffer>;
  /** The plan that the executor is loading, else `NO_PLAN`. */
  readonly loading: Int32Array<SharedArrayBuffer>;
}

/** What an executor's loop is started with. */
export interface ExecutorLoopTask {
  /** Index of the executor, for scratch space of its own. */
  readonly executor: number;
  /** Module that exports `openRunner`. */
  readonly runnerUrl: string;
  readonly mailbox: Mailbox;
  readonly link: ExecutorLink;
  /** Wakes the scheduler. */
  readonly schedulerHeader: Int32Array<SharedArrayBuffer>;
  /** Executors that wait for parts: while there are any, every part is reported at once. */
  readonly waitingCount: Int32Array<SharedArrayBuffer>;
  /** How long the thread looks for parts before it sleeps, in ns. */
  readonly spinNs: number;
}

/** What the scheduler's loop is started with. */
export interface SchedulerLoopTask {
  readonly mailbox: Mailbox;
  readonly options: Pick<SchedulerOptions, "queueNs" | "isStealing" | "isRunningAhead">;
  /** How long the thread looks for news before it sleeps, in ns. */
  readonly spinNs: number;
  /** Executors that wait for parts. */
  readonly waitingCount: Int32Array<SharedArrayBuffer>;
  /** Cores that the threads may run on. */
  readonly cores: number;
  /** Counts the records of the trace that the main thread has taken; null if nothing is traced. */
  readonly traceTaken: Int32Array<SharedArrayBuffer> | null;
}

/** What every executor needs to run parts of a plan; columns are shared, not copied. */
export interface PlanData {
  readonly plan: Plan;
  readonly kernels: KernelSet;
  /** The arena. */
  readonly memory: WebAssembly.Memory;
  /** Operators of the plan beyond the built-in ones. */
  readonly operators: readonly PackedOperator[];
  /** SHA-256 of the code that the state is made by, in hexadecimal digits: checkpoints are worth nothing to other code. */
  readonly codeDigest: string;
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
  /** The blocks of the runs under way (`writeBlock`). */
  readonly blockWords: Float64Array<SharedArrayBuffer>;
  /** Where nodes start in a run of only some nodes. */
  readonly starts: NodeStarts;
  /** One more than the last block that a node of one part has ended, by node; numbers of blocks wrap around. */
  readonly ended: Int32Array<SharedArrayBuffer>;
}

/** Rows with which nodes start in a run of only some nodes, and whether their state is made anew there, by node. */
export interface NodeStarts {
  readonly rows: Float64Array<SharedArrayBuffer>;
  readonly isRebuilt: Uint8Array<SharedArrayBuffer>;
}

export type MainToExecutor =
  | LoadMessage
  /** The plan was closed: drop its buffers. */
  | { readonly kind: "release"; readonly id: number }
  | { readonly kind: "stop" };

/** What a part threw, or what was thrown when its plan was loaded. */
export interface PartFailure {
  readonly stage: "load" | "run";
  /** The operator of the user's that threw, if it is known. */
  readonly operator: string | null;
  /** Message and stack: not every error can be sent as it is. */
  readonly text: string;
}

export type ExecutorToMain =
  | { readonly kind: "hello" }
  /** Posted before the `failed` record is pushed. */
  | {
      readonly kind: "failed";
      readonly plan: number;
      readonly block: number;
      readonly failure: PartFailure;
    };

export type MainToScheduler =
  | {
      readonly kind: "opened";
      readonly plan: number;
      readonly nodes: readonly ScheduledNode[];
      /** Measured ns of each node, summed over parts and runs, written by the scheduler's thread. */
      readonly nodeNs: Float64Array<SharedArrayBuffer>;
    }
  | RunRequest
  | { readonly kind: "cancel"; readonly plan: number }
  | { readonly kind: "closed"; readonly plan: number }
  | { readonly kind: "joined"; readonly executor: number; readonly link: ExecutorLink }
  | { readonly kind: "fault"; readonly executor: number }
  | { readonly kind: "stop" };

export type SchedulerToMain =
  | { readonly kind: "hello" }
  /** Rows of `trace_records.ts`. */
  | { readonly kind: "trace"; readonly records: Float64Array<ArrayBuffer> }
  | RunEnd;

/** Makes the words that carry blocks from the main thread to the executors: no message is posted for a run. */
export function createBlockWords(): Float64Array<SharedArrayBuffer> {
  const bytes = BLOCK_SLOTS * BLOCK_WORDS * Float64Array.BYTES_PER_ELEMENT;
  return new Float64Array(new SharedArrayBuffer(bytes));
}

/** A block as it is described to the executors. */
export interface DescribedBlock extends Block {
  /** True if only some nodes are run, from their own `NodeStarts`. */
  readonly isPartial: boolean;
}

/** To be called before the scheduler hears of the run; its rings order the words behind it. */
export function writeBlock(words: Float64Array, number: number, block: DescribedBlock): void {
  const { firstRow, rowCount, generation, inputRow, outputRow, isPartial } = block;
  words.set(
    [firstRow, rowCount, generation, inputRow, outputRow, isPartial ? 1 : 0],
    (number & BLOCK_SLOT_MASK) * BLOCK_WORDS,
  );
}

export function readBlock(words: Float64Array, number: number): DescribedBlock {
  const first = (number & BLOCK_SLOT_MASK) * BLOCK_WORDS;
  return {
    firstRow: words[first]!,
    rowCount: words[first + 1]!,
    generation: words[first + 2] === 0 ? 0 : 1,
    inputRow: words[first + 3]!,
    outputRow: words[first + 4]!,
    isPartial: words[first + 5] === 1,
  };
}

/** Two doubles as four words of a record, and back. */
const doubles = new Float64Array(2);
const doubleWords = new Int32Array(doubles.buffer);

/** The record of a part: when it began, in ms since 1970, and how many ns it took. */
export function packDone(
  record: Int32Array,
  status: number,
  ticket: number,
  startMs: number,
  ns: number,
): void {
  doubles[0] = startMs;
  doubles[1] = ns;
  record[0] = status;
  record[1] = ticket;
  record.set(doubleWords, 2);
}

export function startMsOf(records: Int32Array, offset: number): number {
  return doubleAt(records, offset + 2);
}

export function nsOf(records: Int32Array, offset: number): number {
  return doubleAt(records, offset + 4);
}

function doubleAt(records: Int32Array, offset: number): number {
  doubleWords[0] = records[offset]!;
  doubleWords[1] = records[offset + 1]!;
  return doubles[0]!;
}
