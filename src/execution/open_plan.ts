import type { Block } from "../kernel/memory/kernel_set.ts";
import type { NodeSelection, SelectionOptions } from "../plan/catch_up.ts";

/** How far an open plan has run. */
export interface Position {
  /** First row of the next block. */
  readonly row: number;
  /** The generation of operator state that the next block reads. */
  readonly generation: number;
}

export const START: Position = { row: 0, generation: 0 };

export interface BlockRunOptions extends SelectionOptions {
  /** Ends the run when aborted: it rejects at once with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * For each condition of the program whether it holds in this run: nodes that no wanted factor needs are skipped, and
   * catch up when they are needed again. Default: all nodes run.
   */
  readonly conditions?: readonly boolean[] | undefined;
}

/** A plan that all executors of a pool have loaded, to be run block by block. */
export interface OpenPlan {
  /** Start of the next block, provided that all blocks so far succeed: at first row 0 and generation 0. */
  readonly next: Position;
  /** Why the plan cannot run any more; null while it can. */
  readonly refusal: Error | null;
  /** Whether nodes that rest would lose a row in the next block: `BlockRunOptions.endsRest` runs what they have missed. */
  readonly isRestDue: boolean;
  /** Measured ns of each node, summed over its parts and over all runs. */
  readonly nodeNs: Float64Array;

  /**
   * Runs the nodes of the plan over one block. Blocks follow each other. A few may overlap: a part begins as soon as
   * the block before is done with what it reads and writes, and blocks end in order. A block may run again, in the same
   * generation, until the next one has ended: after an abort, a failure, or a change of its input. An abort or failure
   * takes back the blocks behind it as well; these reject with E412. If they are more than `Plan.undoBlocks`, the plan
   * cannot run any more.
   *
   * @throws UsageError E515 if a user's operator throws, or has lost rows for that (`SelectionOptions.mayLose`); ResourceError E402 if an operator ends its thread twice in a
   *   row, or the plan two threads that load it, E403 if the threads are lost, E404 if the pool or the plan is
   *   closed meanwhile, E412 if an earlier block failed or was aborted while this one was under way; InternalError if another operator
   *   throws; the signal's reason when it is aborted.
   */
  run(block: Block, options?: BlockRunOptions): Promise<void>;

  /** Resolves when a block can begin at once, or never will. */
  room(): Promise<void>;

  /** Whether that number of blocks is under way, none of them taken back, and another one can begin at once. */
  canFollow(count: number): boolean;

  /**
   * What a run of a block that starts at this row would do after the blocks under way; null where all nodes run. Reused
   * by the next call.
   */
  preview(firstRow: number, options: Omit<BlockRunOptions, "signal">): NodeSelection | null;

  /**
   * Number of the generation that the recurrences of a node carry into the next row or an earlier one that may run again,
   * after the blocks under way; null if the node is not there. For plans with blocks of one row.
   */
  generationBefore(row: number, node: number): number | null;

  /**
   * Resolves when no run is under way any more, including the remains of an aborted one: if one of its parts goes on
   * for seconds, its thread is ended.
   */
  idle(): Promise<void>;

  /** Continues at row 0, as if nothing had run; no run may be under way. The caller prepares the arenas (`initializeArena`). */
  restart(): void;

  /**
   * Ends runs that are under way; resolves when none of their parts runs any more, as `idle`. May be called twice.
   *
   * @param reason the error of these runs and of later ones. Default: E404.
   */
  close(reason?: Error): Promise<void>;
}
