import type { CallOrder } from "./call_order.ts";

/** What the scheduler needs of one graph node. */
export interface ScheduledNode {
  /** Ids of the nodes whose columns it reads, each once; they come before it. */
  readonly inputs: readonly number[];
  /** Parts that may run in parallel, at least 1. */
  readonly partCount: number;
  readonly weight: number;
  /** Estimated ns of all its parts together, until they have been measured. */
  readonly costNs: number;
  /** Estimated ns that a part loses on an executor whose caches do not hold its data. */
  readonly moveNs: number;
  /**
   * True if its columns keep what readers of the blocks before still read: the next block may begin the node before these
   * have ended. Default false.
   */
  readonly keepsRows?: boolean;
}

/** Identifies one part of one node in the run of an open plan over one block. */
export interface PartId {
  readonly plan: number;
  readonly block: number;
  readonly node: number;
  readonly part: number;
}

/** A plan may run from now on. A node's id is its index; the graph has no cycle. Ids are never reused. */
export interface OpenedEvent {
  readonly kind: "opened";
  readonly plan: number;
  readonly nodes: readonly ScheduledNode[];
  /** Receives the measured ns of each node, summed over its parts and over runs that have ended. */
  readonly nodeNs?: Float64Array;
}

export type SchedulerEvent =
  | OpenedEvent
  | RunRequest
  /** The plan does not run any more; none of its runs is under way. */
  | { readonly kind: "closed"; readonly plan: number }
  /** An executor has run a part in `ns` ns; null if the part failed, or its block was cut. */
  | { readonly kind: "done"; readonly executor: number; readonly ticket: number; readonly ns: number | null }
  /** The answer to a steal: true if the part had not begun and is in no queue now. */
  | {
      readonly kind: "stolen";
      readonly executor: number;
      readonly ticket: number;
      readonly isTaken: boolean;
    }
  | { readonly kind: "joined"; readonly executor: number }
  /** An executor is lost, with everything in its queue; `running` is the part it was running, if any. */
  | { readonly kind: "fault"; readonly executor: number; readonly running: PartId | null };

/**
 * Run nodes of the plan over one block. Blocks of a plan come in order and may overlap: a node begins a block once its
 * inputs have ended it and its readers have ended the block before. A block always ends: what nobody needs any more is
 * handed out as well, and executors pass over it.
 */
export interface RunRequest extends CallOrder {
  readonly kind: "submitted";
  readonly plan: number;
  readonly block: number;
  /** For each node whether it runs, with everything that it reads; null for all. */
  readonly isNeeded: Uint8Array | null;
  /** For each node how many blocks' rows it runs, where some catch up. Default: 1 each. */
  readonly blocksRun?: Float64Array | null;
}

/** Put this part into this executor's queue. */
export interface RunInstruction extends PartId, CallOrder {
  readonly kind: "run";
  readonly executor: number;
  /**
   * Identifies the part in its executor's queue: unique among queued parts; its slot is the ticket modulo
   * `QUEUE_SLOTS`.
   */
  readonly ticket: number;
  /** Within a queue, the heaviest parts of a call go first. */
  readonly weight: number;
  /**
   * True if the part is handed out ahead of its inputs: the executor must wait until they are done. Each input that is
   * not complete has one part, which was handed out. The executor watches for its end itself, or receives `release`.
   */
  readonly isAhead: boolean;
}

/** The inputs of a part that was handed out ahead are complete. */
export interface ReleaseInstruction {
  readonly kind: "release";
  readonly executor: number;
  readonly ticket: number;
}

/** Take this part back from this executor's queue unless it has begun, and report with `stolen`. */
export interface StealInstruction {
  readonly kind: "steal";
  readonly executor: number;
  readonly ticket: number;
}

/** A part was running on two executors in a row that were lost: it fails. */
export interface PartLoss {
  readonly kind: "lost";
  readonly plan: number;
  readonly block: number;
  readonly node: number;
}

/** A plan's run over a block has ended, and so have those before: none of its parts is queued or running. */
export interface RunEnd {
  readonly kind: "finished";
  readonly plan: number;
  readonly block: number;
}

export type Instruction = RunInstruction | ReleaseInstruction | StealInstruction | PartLoss | RunEnd;
