import type { NodeSelection, SelectionOptions } from "../plan/progress.ts";

/** The place of a block in input and results. */
export interface BlockRows {
  readonly rowCount: number;
  readonly inputRow: number;
  readonly outputRow: number;
}

export interface BlockRunOptions extends SelectionOptions {
  /** Ends the run when aborted: it rejects at once with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A plan that all executors of a pool have loaded, to be run block by block. */
export interface OpenPlan {
  /** First row of the next block, provided that all blocks so far succeed. */
  readonly nextRow: number;
  /** Why the plan cannot run any more; null while it can. */
  readonly refusal: Error | null;
  /** Whether nodes that rest would lose a row in the next block: `BlockRunOptions.endsRest` runs what they have missed. */
  readonly isRestDue: boolean;
  /** Measured ns of each node, summed over its parts and over all runs. */
  readonly nodeNs: Float64Array;

  /**
   * Runs the nodes of the plan over one block. Blocks follow each other. A few may overlap, where there is `room`: a part
   * begins as soon as the block before is done with what it reads and writes, and blocks end in order. The last block may
   * run again, alone (`SelectionOptions.block`): if that fails or is aborted, the block is as it was before. Else a failure
   * or an abort ends the blocks behind it as well, with the same error, which all later blocks get until a `restart`.
   *
   * @throws UsageError E515 if a user's operator throws, or has lost rows for that (`SelectionOptions.mayLose`); ResourceError
   *   E402 if an operator ends its thread twice in a row, or the plan two threads that load it, E403 if the threads are lost,
   *   E404 if the pool or the plan is closed meanwhile; InternalError if another operator throws; the signal's reason when it
   *   is aborted.
   */
  run(rows: BlockRows, options?: BlockRunOptions): Promise<void>;

  /** Resolves when a block can begin at once, or never will. */
  room(): Promise<void>;

  /** Whether that number of blocks is under way, none of them has failed, and another one can begin at once. */
  canFollow(count: number): boolean;

  /** What a run would do after the blocks under way; null where all nodes run. Reused by the next call. */
  preview(options: SelectionOptions): NodeSelection | null;

  /** `Progress.generationBefore`, after the blocks under way. */
  generationBefore(node: number, rowsBack?: number): number | null;

  /**
   * Resolves when no run is under way any more, including the remains of an aborted one: if one of its parts goes on
   * for seconds, its thread is ended.
   */
  idle(): Promise<void>;

  /**
   * Continues at a row, as if nothing had run; no run may be under way. The caller prepares the arenas (`initializeArena`).
   *
   * @param row default: 0
   */
  restart(row?: number): void;

  /**
   * Ends runs that are under way; resolves when none of their parts runs any more, as `idle`. May be called twice.
   *
   * @param reason the error of these runs and of later ones. Default: E404.
   */
  close(reason?: Error): Promise<void>;
}
