/** What the scheduler has to know of one graph node. */
export interface ScheduledNode {
  /** Ids of the nodes whose columns it reads, each once. */
  readonly inputs: readonly number[];
  /** Its work is cut into so many parts, at least 1, that may run in parallel. */
  readonly partCount: number;
  /** The heaviest ready node goes first. */
  readonly weight: number;
  /** Estimated ns of all its parts together, until they have been measured. */
  readonly costNs: number;
  /** Estimated ns that one part loses where another executor has its data in caches. */
  readonly moveNs: number;
}

/** Names one part of one node in the run of an open plan over one block. */
export interface PartId {
  readonly plan: number;
  readonly block: number;
  readonly node: number;
  readonly part: number;
}

export type SchedulerEvent =
  /** A plan may be run from now on. A node's id is its index; the graph has no cycle. Ids are never used twice. */
  | {
      readonly kind: "opened";
      readonly plan: number;
      readonly nodes: readonly ScheduledNode[];
      /** Takes the measured ns of each node, summed over its parts and over runs that have ended. */
      readonly nodeNs?: Float64Array;
    }
  | RunRequest
  /** Nobody waits for the plan's runs any more. */
  | { readonly kind: "cancel"; readonly plan: number }
  /** The plan is not run any more; no run of it is under way. */
  | { readonly kind: "closed"; readonly plan: number }
  /** An executor has run a part, in so many ns. */
  | { readonly kind: "done"; readonly executor: number; readonly ticket: number; readonly ns: number }
  /** The kernel of a part threw. */
  | { readonly kind: "failed"; readonly executor: number; readonly ticket: number }
  /** The answer to a steal: true if the part had not been begun and is nobody's now. */
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
 * Nodes of the plan are to be run over one block. Blocks of a plan come in order and may overlap: a node begins a block
 * once its inputs have ended it and its readers have ended the block before. If a block ends early, so do the later ones
 * that were submitted before its end was told.
 */
export interface RunRequest {
  readonly kind: "submitted";
  readonly plan: number;
  readonly block: number;
  /** The call that the run belongs to: parts of calls with earlier numbers go first. */
  readonly call: number;
  /** For each node whether it is run, with everything that it reads; null for all. Such a run overlaps with no other. */
  readonly isNeeded: Uint8Array | null;
}

/** Put this part into that executor's queue. */
export interface RunInstruction extends PartId {
  readonly kind: "run";
  readonly executor: number;
  /** Names the part in its executor's queue: unique among what is queued, and its slot modulo `QUEUE_SLOTS`. */
  readonly ticket: number;
  /** In its queue the part of the earliest call goes first, of one call the heaviest. */
  readonly call: number;
  readonly weight: number;
  /**
   * True if the executor has to wait until what the node reads is done: each input that is not complete has one part, which
   * was handed out. The executor looks for that itself, or is told by `release`.
   */
  readonly isAhead: boolean;
}

/** What a part reads that was handed out ahead is complete. */
export interface ReleaseInstruction {
  readonly kind: "release";
  readonly executor: number;
  readonly ticket: number;
}

/** Take this part back out of that executor's queue unless it has been begun, and report with `stolen`. */
export interface StealInstruction {
  readonly kind: "steal";
  /** True if its run is ending: it is handed to nobody else. */
  readonly isEnding: boolean;
  readonly executor: number;
  readonly ticket: number;
}

/** Why a run failed: a kernel threw, or one part lost two executors in a row. */
export type FailureReason = "kernel" | "executor";

/** A plan's run over a block has ended, and so have those before: no part of it is queued or running any more. */
export type RunEnd = { readonly plan: number; readonly block: number } & (
  | { readonly kind: "finished" }
  | { readonly kind: "cancelled" }
  | { readonly kind: "failed"; readonly node: number; readonly reason: FailureReason }
);

export type Instruction = RunInstruction | ReleaseInstruction | StealInstruction | RunEnd;
