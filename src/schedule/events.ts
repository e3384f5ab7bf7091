/** What the scheduler has to know of one graph node. */
export interface ScheduledNode {
  /** Ids of the nodes whose columns it reads, each once. */
  readonly inputs: readonly number[];
  /** Its work is cut into so many parts, at least 1, that may run in parallel. */
  readonly partCount: number;
  /** The heaviest ready node goes first. */
  readonly weight: number;
  /** Its column is kept until the call ends. */
  readonly isOutput: boolean;
}

/** One evaluation of a graph. A later call has a higher id; ids are never used twice. */
export interface CallSubmitted {
  readonly kind: "submitted";
  readonly call: number;
  /** A node's id is its index. The graph has no cycle; ids need not be in topological order. */
  readonly nodes: readonly ScheduledNode[];
  /** 1 for every node that this call needs; the inputs of a wanted node are wanted. */
  readonly wanted: Uint8Array;
  /** Columns that fit into the call's memory. */
  readonly slotCount: number;
}

export type SchedulerEvent =
  | CallSubmitted
  /** An executor has run a part. */
  | {
      readonly kind: "done";
      readonly executor: number;
      readonly call: number;
      readonly node: number;
      readonly part: number;
    }
  /** The kernel of a part threw. */
  | {
      readonly kind: "failed";
      readonly executor: number;
      readonly call: number;
      readonly node: number;
      readonly part: number;
    }
  /** Nobody waits for this call any more. */
  | { readonly kind: "cancel"; readonly call: number }
  | { readonly kind: "joined"; readonly executor: number }
  /** An executor is lost, with everything in its queue; `running` is the part it was running, if any. */
  | { readonly kind: "fault"; readonly executor: number; readonly running: PartId | null };

/** Names one part of one node of one call. */
export interface PartId {
  readonly call: number;
  readonly node: number;
  readonly part: number;
}

/** Put this part into that executor's queue; the node writes the column in `slot`. */
export interface RunInstruction extends PartId {
  readonly kind: "run";
  readonly executor: number;
  readonly slot: number;
}

/** Why a call failed: its kernel threw, its columns do not fit, or one part lost two executors in a row. */
export type FailureReason = "kernel" | "memory" | "executor";

/** A call has ended: no part of it is queued or running any more. */
export type CallEnd =
  | { readonly kind: "finished"; readonly call: number }
  | { readonly kind: "cancelled"; readonly call: number }
  | { readonly kind: "failed"; readonly call: number; readonly node: number; readonly reason: FailureReason };

export type Instruction = RunInstruction | CallEnd;
