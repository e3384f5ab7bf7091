import { InternalError, ResourceError } from "../errors.ts";
import type { Block } from "../kernel/kernel_set.ts";
import type { RunEnd } from "../schedule/events.ts";
import { type Position, packCheckpoint, START, unpackCheckpoint } from "./checkpoint.ts";
import { type BlockLimits, checkBlock, checkPlanData } from "./plan_checks.ts";
import { type PartFailure, partFailure, threadLoss } from "./plan_failures.ts";
import {
  createBlockWords,
  type LoadMessage,
  type MainToScheduler,
  type PlanData,
  writeBlock,
} from "./protocol.ts";

export interface RunOptions {
  /** Ends the run when aborted: it rejects at once with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A plan that all executors of a pool have loaded, to be run block by block. */
export interface OpenPlan {
  /** Where the next block starts if the last one stands: at row 0 and in generation 0 at first. */
  readonly next: Position;
  /** Measured ns of each node of the plan, summed over its parts and over all runs. */
  readonly nodeNs: Float64Array;

  /**
   * Runs all nodes of the plan over one block; runs of one plan wait for each other. A block may be run again, in the
   * same generation, until the next one is run: after an abort, a failure, or a change of its input.
   *
   * @throws UsageError E515 if an operator of the user throws; ResourceError E402 if an operator ends its thread twice
   *   in a row, E403 if the threads are lost, E404 if the pool or the plan is closed meanwhile; InternalError if
   *   another operator throws; the signal's reason when it is aborted.
   */
  run(block: Block, options?: RunOptions): Promise<void>;

  /** All that `restore` needs to go on after the last block, in this process or another; no run may be under way. */
  checkpoint(): Uint8Array<ArrayBuffer>;

  /**
   * Takes the place of a plan of the same program, lanes and block size that has gone so far.
   *
   * @throws DataError E351 if the checkpoint is damaged, E352 if it is of another plan; nothing has changed then.
   */
  restore(checkpoint: Uint8Array): void;

  /** Ends a run that is under way; resolves when no part of it runs any more. May be called twice. */
  close(): Promise<void>;
}

/** What a plan needs of its pool. */
export interface PlanHost {
  tellScheduler(message: MainToScheduler): void;
  /** No executor needs the plan any more. */
  release(plan: PlanRecord): void;
}

/** A run that the scheduler has not reported the end of. */
interface RunUnderWay {
  readonly block: Block;
  readonly result: PromiseWithResolvers<void>;
  readonly ended: PromiseWithResolvers<void>;
  failure: PartFailure | null;
}

/** The main thread's record of an open plan. */
export class PlanRecord implements OpenPlan {
  readonly id: number;
  readonly nodeNs: Float64Array<SharedArrayBuffer>;
  readonly #data: PlanData;
  readonly #limits: BlockLimits;
  readonly #host: PlanHost;
  readonly #blockWords = createBlockWords();
  #next = START;
  #underWay: RunUnderWay | null = null;
  /** Why the plan cannot be run any more. */
  #refusal: Error | null = null;
  #closed: Promise<void> | null = null;

  /** @throws InternalError if the data does not fit the plan. */
  constructor(id: number, data: PlanData, host: PlanHost) {
    this.id = id;
    this.#data = data;
    this.#limits = checkPlanData(data);
    this.#host = host;
    const bytes = data.plan.nodes.length * Float64Array.BYTES_PER_ELEMENT;
    this.nodeNs = new Float64Array(new SharedArrayBuffer(bytes));
  }

  get next(): Position {
    return this.#next;
  }

  async run(block: Block, { signal }: RunOptions = {}): Promise<void> {
    while (this.#underWay) await this.#underWay.ended.promise;
    if (this.#refusal) throw this.#refusal;
    signal?.throwIfAborted();
    checkBlock(block, this.#limits);
    const run: RunUnderWay = {
      block,
      result: Promise.withResolvers(),
      ended: Promise.withResolvers(),
      failure: null,
    };
    this.#underWay = run;
    writeBlock(this.#blockWords, block);
    this.#host.tellScheduler({ kind: "submitted", plan: this.id });
    if (!signal) return await run.result.promise;
    const abort = () => this.#cancel(run, signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    try {
      await run.result.promise;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  checkpoint(): Uint8Array<ArrayBuffer> {
    this.#expectIdle();
    return packCheckpoint(this.#data, this.#next);
  }

  restore(checkpoint: Uint8Array): void {
    this.#expectIdle();
    this.#next = unpackCheckpoint(checkpoint, this.#data);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  loadMessage(): LoadMessage {
    return { kind: "load", id: this.id, blockWords: this.#blockWords, ...this.#data };
  }

  openMessage(): MainToScheduler {
    const nodes = this.#data.plan.nodes.map(({ inputs, partCount, weight }) => ({
      inputs,
      partCount,
      weight,
    }));
    return { kind: "opened", plan: this.id, nodes, nodeNs: this.nodeNs };
  }

  /** Keeps the first failure of a part; the scheduler says when the run has failed. */
  noteFailure(failure: PartFailure): void {
    if (this.#underWay) this.#underWay.failure ??= failure;
  }

  /** The scheduler says that no part of the run is queued or running any more. */
  endRun(end: RunEnd): void {
    const run = this.#underWay;
    if (!run) return;
    this.#underWay = null;
    if (end.kind === "finished") this.#finish(run);
    else if (end.kind === "cancelled") run.result.reject(new InternalError("a run was cancelled by nobody"));
    else if (end.reason === "executor") run.result.reject(threadLoss(this.#data, end.node));
    else run.result.reject(partFailure(this.#data, end.node, run.failure));
    run.ended.resolve();
  }

  /** Nothing will be heard of the threads any more. */
  abandon(reason: Error): void {
    this.#refusal ??= reason;
    this.#underWay?.result.reject(reason);
    this.#underWay?.ended.resolve();
    this.#underWay = null;
  }

  #finish({ block, result }: RunUnderWay): void {
    const { firstRow, rowCount, generation } = block;
    this.#next = { row: firstRow + rowCount, generation: generation === 0 ? 1 : 0, lastBlockRow: firstRow };
    result.resolve();
  }

  #cancel(run: RunUnderWay | null, reason: unknown): void {
    if (!run || this.#underWay !== run) return;
    run.result.reject(reason);
    this.#host.tellScheduler({ kind: "cancel", plan: this.id });
  }

  async #close(): Promise<void> {
    this.#refusal ??= new ResourceError(
      "E404",
      "the plan was closed",
      "await its runs before closing it, or open it again",
    );
    this.#cancel(this.#underWay, this.#refusal);
    await this.#underWay?.ended.promise;
    this.#host.release(this);
  }

  #expectIdle(): void {
    if (this.#underWay) throw new InternalError("a run of the plan is under way");
    if (this.#refusal) throw this.#refusal;
  }
}
