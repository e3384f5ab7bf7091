import type { PackedOperator } from "../operator/transfer.ts";
import type { GroupColumn } from "../panel.ts";
import type { CallEnd, ScheduledNode } from "../schedule/events.ts";
import type { Mailbox } from "./mailbox.ts";

/** Record scheduler -> executor: run this part. Words: call, node, part. */
export const RUN_WORDS = 3;

/** Record executor -> scheduler: what became of a part. Words: status, call, node, part, seconds, nanoseconds. */
export const DONE_WORDS = 6;

/** First word of a `DONE_WORDS` record. */
export const PART_STATUS = { done: 0, failed: 1 } as const;

/** The memory that an executor and the scheduler share. */
export interface ExecutorLink {
  readonly runs: SharedArrayBuffer;
  readonly completions: SharedArrayBuffer;
  /** Wakes the executor. */
  readonly header: Int32Array<SharedArrayBuffer>;
  /** Call, node and part that the executor began last: who is to blame if it is lost. */
  readonly running: Int32Array<SharedArrayBuffer>;
}

/** What an executor's loop is started with. */
export interface ExecutorTask {
  /** Module that exports `builtInRegistry`. */
  readonly operatorsUrl: string;
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

/** `load`: everything that an executor has to know to run parts of a call; columns are shared, not copied. */
export interface LoadMessage {
  readonly kind: "load";
  readonly call: number;
  readonly rowCount: number;
  readonly laneCount: number;
  /** The plan's nodes, packed once for all executors (`packNodes`). */
  readonly nodes: SharedArrayBuffer;
  readonly params: Readonly<Record<string, number | Float64Array<SharedArrayBuffer>>>;
  /** Operators beyond the built-in ones. */
  readonly operators: readonly PackedOperator[];
  readonly fields: ReadonlyMap<string, Float64Array<SharedArrayBuffer>>;
  readonly groups: ReadonlyMap<string, GroupColumn>;
  /** Slot `s` is the column `[rows x lanes]` at byte `s * rows * lanes * 8`. */
  readonly arena: SharedArrayBuffer;
  /** Slot of each node, written by the scheduler before the node's first part is run. */
  readonly slotOfNode: Int32Array<SharedArrayBuffer>;
}

export type MainToExecutor =
  | LoadMessage
  /** The call has ended: drop its buffers. */
  | { readonly kind: "release"; readonly call: number }
  | { readonly kind: "stop" };

export type ExecutorToMain =
  | { readonly kind: "hello" }
  /** A kernel threw, or the call could not be loaded; posted before the `failed` record is pushed. */
  | {
      readonly kind: "failed";
      readonly call: number;
      readonly node: number;
      /** The error as text: not every error can be sent as it is. */
      readonly text: string;
    };

/** A call as the scheduler thread sees it. */
export interface SubmitMessage {
  readonly kind: "submit";
  readonly call: number;
  readonly nodes: readonly ScheduledNode[];
  readonly wanted: Uint8Array;
  readonly slotCount: number;
  readonly slotOfNode: Int32Array<SharedArrayBuffer>;
  /** Measured ns of each node, summed over its parts, written by the scheduler thread. */
  readonly nodeNs: Float64Array<SharedArrayBuffer>;
  readonly wantsProgress: boolean;
}

export type MainToScheduler =
  | SubmitMessage
  | { readonly kind: "cancel"; readonly call: number }
  | { readonly kind: "joined"; readonly executor: number; readonly link: ExecutorLink }
  | { readonly kind: "fault"; readonly executor: number }
  | { readonly kind: "stop" };

export type SchedulerToMain =
  | { readonly kind: "hello" }
  | CallEnd
  | {
      readonly kind: "progress";
      readonly call: number;
      readonly partsDone: number;
      readonly partCount: number;
    };
