/** What the scheduler has to know of one graph node. */
export interface ScheduledNode {
  /** Ids of the nodes whose columns it reads, each once. */
  readonly inputs: readonly number[];
  /** Its work is cut into so many parts, at least 1, that may run in parallel. */
  readonly partCount: number;
  /** The heaviest ready node goes first. */
  readonly weight: number;
}

/** Names one part of one node of an open plan. */
export interface PartId {
  readonly plan: number;
  readonly node: number;
  readonly part: number;
}

export type SchedulerEvent =
  /** A plan may be run from now on. A node's id is its index; the graph has no cycle. Ids are never used twice. */
  | { readonly kind: "opened"; readonly plan: number; readonly nodes: readonly ScheduledNode[] }
  /** All nodes of the plan are to be run over one block; the plan's run before has ended. */
  | { readonly kind: "submitted"; readonly plan: number }
  /** Nobody waits for the plan's run any more. */
  | { readonly kind: "cancel"; readonly plan: number }
  /** The plan is not run any more; no run of it is under way. */
  | { readonly kind: "closed"; readonly plan: number }
  /** An executor has run a part. */
  | ({ readonly kind: "done"; readonly executor: number } & PartId)
  /** The kernel of a part threw. */
  | ({ readonly kind: "failed"; readonly executor: number } & PartId)
  | { readonly kind: "joined"; readonly executor: number }
  /** An executor is lost, with everything in its queue; `running` is the part it was running, if any. */
  | { readonly kind: "fault"; readonly executor: number; readonly running: PartId | null };

/** Put this part into that executor's queue. */
export interface RunInstruction extends PartId {
  readonly kind: "run";
  readonly executor: number;
}

/** Why a run failed: a kernel threw, or one part lost two executors in a row. */
export type FailureReason = "kernel" | "executor";

/** A plan's run has ended: no part of it is queued or running any more. */
export type RunEnd =
  | { readonly kind: "finished"; readonly plan: number }
  | { readonly kind: "cancelled"; readonly plan: number }
  | { readonly kind: "failed"; readonly plan: number; readonly node: number; readonly reason: FailureReason };

export type Instruction = RunInstruction | RunEnd;
