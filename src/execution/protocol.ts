import type { Block } from "../kernel/memory/kernel_set.ts";
import type { PlanArena } from "../kernel/memory/plan_arena.ts";
import type { PackedOperator } from "../operator/transfer.ts";
import type { GroupColumn } from "../panel.ts";
import type { Plan } from "../plan/plan.ts";
import type { NodeSelection } from "../plan/progress.ts";
import type { OpenedEvent, PartLoss, RunEnd, RunRequest } from "../schedule/events.ts";
import { QUEUE_SLOTS } from "../schedule/executor_queue.ts";
import type { SchedulerOptions } from "../schedule/scheduler.ts";
import { BLOCK_SLOT_MASK, BLOCK_SLOTS } from "./shared/block_slots.ts";
import type { Mailbox } from "./shared/mailbox.ts";
import type { MarkWords } from "./shared/node_marks.ts";

/**
 * Record scheduler -> executor: run this part. Words: ticket, plan, block, node, part, call, weight as Float32, 1 if it
 * is handed out ahead of its inputs, and the priority of the call.
 */
export const RUN_WORDS = 9;

/** Indices of some of these words. */
export const RUN_WORD = { call: 5, weight: 6, isAhead: 7, priority: 8 } as const;

/** Record executor -> scheduler: the outcome of a part. Words: status, ticket, and two numbers of `packDone`. */
export const DONE_WORDS = 6;

/** First word of a `DONE_WORDS` record. */
export const PART_STATUS = { done: 0, failed: 1, passedOver: 2 } as const;

/**
 * Capacity of a ring of parts. At most half of it is used when one more part is stolen and its record left behind.
 * Queued parts come on top.
 */
export const RUN_RING_RECORDS = 8 * QUEUE_SLOTS;

/** Words that describe a block. */
const BLOCK_WORDS = 6;

/** The value of a word that names no plan. */
export const NO_PLAN = -1;

/** Memory shared by an executor and the scheduler. */
export interface ExecutorLink {
  readonly runs: SharedArrayBuffer;
  readonly completions: SharedArrayBuffer;
  /**
   * One word per slot of the executor's queue: the ticket of the waiting part plus one; 0 once it has begun or was
   * stolen. Owner and thief change it by compare-and-swap, so only one of them gets the part.
   */
  readonly claims: Int32Array<SharedArrayBuffer>;
  /** The same value where the scheduler has released a part that was handed out ahead. */
  readonly released: Int32Array<SharedArrayBuffer>;
  readonly header: Int32Array<SharedArrayBuffer>;
  /** 1 while the executor waits for parts. */
  readonly waiting: Int32Array<SharedArrayBuffer>;
  /**
   * Plan, block, node and part that the executor began last: the suspect if it is lost. Then the begins and ends of parts
   * so far: odd while one runs. Then its ticket.
   */
  readonly running: Int32Array<SharedArrayBuffer>;
  /** The plan that the executor is loading, else `NO_PLAN`. */
  readonly loading: Int32Array<SharedArrayBuffer>;
}

/** Start parameters that all executors of a pool have in common. */
export interface SeatOptions {
  /** Module that exports `openRunner`. */
  readonly runnerUrl: string;
  readonly schedulerHeader: Int32Array<SharedArrayBuffer>;
  /** Mailbox headers of all executors, and a bit for each that sleeps and has parts ahead of their inputs. */
  readonly headers: readonly Int32Array<SharedArrayBuffer>[];
  readonly sleeping: Int32Array<SharedArrayBuffer>;
  /** Number of waiting executors: while it is not 0, every part is reported at once. */
  readonly waitingCount: Int32Array<SharedArrayBuffer>;
  /** 1 while the scheduler may not have been woken for a part that has ended. */
  readonly unheard: Int32Array<SharedArrayBuffer>;
  /** How long the thread spins for parts before it sleeps, in ns. */
  readonly spinNs: number;
}

/** Start parameters of an executor's loop. */
export interface ExecutorLoopTask extends SeatOptions {
  /** Index of the executor, for its own scratch space. */
  readonly executor: number;
  readonly mailbox: Mailbox;
  readonly link: ExecutorLink;
}

/** Start parameters of the scheduler's loop. */
export interface SchedulerLoopTask {
  readonly mailbox: Mailbox;
  readonly options: Pick<SchedulerOptions, "queueNs" | "isStealing" | "isRunningAhead">;
  /** How long the thread spins for events before it sleeps, in ns. */
  readonly spinNs: number;
  /** Number of waiting executors. */
  readonly waitingCount: Int32Array<SharedArrayBuffer>;
  /** See `SeatOptions.unheard`. */
  readonly unheard: Int32Array<SharedArrayBuffer>;
  /** Cores that the threads may run on. */
  readonly cores: number;
  /** Number of trace records that the main thread has taken; null without a trace. */
  readonly traceTaken: Int32Array<SharedArrayBuffer> | null;
  /** Where `TimesRecorder` sums up; null if nobody asks. */
  readonly timeSums: Float64Array<SharedArrayBuffer> | null;
}

/** What every executor needs to run parts of a plan; columns are shared, not copied. */
export interface PlanData {
  /** What is scheduled: the plans of all arenas joined. */
  readonly plan: Plan;
  readonly arenas: readonly PlanArena[];
  /** Operators of the plan beyond the built-in ones. */
  readonly operators: readonly PackedOperator[];
  /** Numeric input columns `[inputRows x lanes]`. */
  readonly fields: ReadonlyMap<string, Float64Array<SharedArrayBuffer>>;
  readonly groups: ReadonlyMap<string, GroupColumn>;
  /** Values of the numeric params: one for all rows, or one per input row. */
  readonly params: Readonly<Record<string, number | Float64Array<SharedArrayBuffer>>>;
  /** One column `[resultRows x lanes]` per output of the plan; null for outputs that are not kept. */
  readonly results: readonly (Float64Array<SharedArrayBuffer> | null)[];
}

/** `load`: posted once to each executor when a plan is opened. */
export interface LoadMessage extends PlanData {
  readonly kind: "load";
  readonly id: number;
  /** False for a plan that has ended its threads: its parts are passed over. */
  readonly isLoadable: boolean;
  /** The blocks of the runs under way (`writeBlock`). */
  readonly blockWords: Float64Array<SharedArrayBuffer>;
  /** Where nodes start in runs of a plan with conditions. */
  readonly starts: NodeStarts;
  readonly marks: MarkWords;
}

/**
 * For each slot of blocks, by node: its start row, whether its windows are rebuilt there, and the generation that its
 * recurrences read.
 */
export interface NodeStarts {
  readonly rows: Float64Array<SharedArrayBuffer>;
  readonly isRebuilt: Uint8Array<SharedArrayBuffer>;
  readonly generations: Float64Array<SharedArrayBuffer>;
}

export type MainToExecutor =
  | LoadMessage
  /** The plan was closed: drop its buffers. */
  | { readonly kind: "release"; readonly id: number }
  /** Closed plans hold more memory than there should be. */
  | { readonly kind: "collect" }
  | { readonly kind: "stop" };

/** The error of a part, or of loading its plan. */
export interface PartFailure {
  readonly stage: "load" | "run";
  /** The user's operator that threw, if known. */
  readonly operator: string | null;
  /** Message and stack: not every error can be sent as an object. */
  readonly text: string;
}

export type ExecutorToMain =
  | { readonly kind: "hello" }
  /** Posted before the `failed` record is pushed. */
  | {
      readonly kind: "failed";
      readonly plan: number;
      readonly block: number;
      readonly node: number;
      readonly failure: PartFailure;
    };

export type MainToScheduler =
  | (OpenedEvent & { readonly marks: MarkWords })
  | RunRequest
  | { readonly kind: "closed"; readonly plan: number }
  | { readonly kind: "joined"; readonly executor: number; readonly link: ExecutorLink }
  | { readonly kind: "fault"; readonly executor: number }
  | { readonly kind: "stop" };

export type SchedulerToMain =
  | { readonly kind: "hello" }
  /** Rows of `trace_records.ts`. */
  | { readonly kind: "trace"; readonly records: Float64Array<ArrayBuffer> }
  | PartLoss
  | RunEnd;

/** The words that carry blocks from the main thread to the executors: a run needs no message. */
export function createBlockWords(): Float64Array<SharedArrayBuffer> {
  return sharedDoubles(BLOCK_SLOTS * BLOCK_WORDS);
}

export function sharedDoubles(length: number): Float64Array<SharedArrayBuffer> {
  return new Float64Array(new SharedArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT));
}

/** `NodeStarts` of a plan. */
export function createNodeStarts(nodeCount: number): NodeStarts {
  const length = BLOCK_SLOTS * nodeCount;
  return {
    rows: sharedDoubles(length),
    isRebuilt: new Uint8Array(new SharedArrayBuffer(length)),
    generations: sharedDoubles(length),
  };
}

/** Call it before the scheduler learns of the run, as `writeBlock`. */
export function writeStarts(starts: NodeStarts, number: number, selection: NodeSelection): void {
  const first = firstStart(number, selection.isRun.length);
  starts.rows.set(selection.startRows, first);
  starts.isRebuilt.set(selection.isRebuilt, first);
  starts.generations.set(selection.generations, first);
}

/** Where the starts of a block's nodes begin. */
export function firstStart(number: number, nodeCount: number): number {
  return (number & BLOCK_SLOT_MASK) * nodeCount;
}

/** A block as executors see it. */
export interface DescribedBlock extends Block {
  /** True if nodes run from their own `NodeStarts`. */
  readonly hasStarts: boolean;
}

/** Call it before the scheduler learns of the run: its rings make the words visible to executors. */
export function writeBlock(words: Float64Array, number: number, block: DescribedBlock): void {
  const { firstRow, rowCount, generation, inputRow, outputRow, hasStarts } = block;
  words.set(
    [firstRow, rowCount, generation, inputRow, outputRow, hasStarts ? 1 : 0],
    (number & BLOCK_SLOT_MASK) * BLOCK_WORDS,
  );
}

export function readBlock(words: Float64Array, number: number): DescribedBlock {
  const first = (number & BLOCK_SLOT_MASK) * BLOCK_WORDS;
  return {
    firstRow: words[first]!,
    rowCount: words[first + 1]!,
    generation: words[first + 2]!,
    inputRow: words[first + 3]!,
    outputRow: words[first + 4]!,
    hasStarts: words[first + 5] === 1,
  };
}

/** Two doubles as four words of a record, and back. */
const doubles = new Float64Array(2);
const doubleWords = new Int32Array(doubles.buffer);

/** Packs when a part began, in ms since 1970, and how many ns it took. */
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
