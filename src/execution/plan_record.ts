import { InternalError } from "../errors.ts";
import { type NodeSelection, Progress, runsWhole, type SelectionOptions } from "../plan/progress.ts";
import type { CallOrder, PlanOrder } from "../schedule/call_order.ts";
import type { PartLoss, RunEnd } from "../schedule/events.ts";
import type { BlockRows, BlockRunOptions, OpenPlan } from "./open_plan.ts";
import { type BlockLimits, checkBlock, checkPlanData } from "./plan_checks.ts";
import { loadLoss, operatorsOf, partFailure, planClosed, threadLoss } from "./plan_failures.ts";
import {
  createBlockWords,
  createNodeStarts,
  type LoadMessage,
  type MainToScheduler,
  type PartFailure,
  type PlanData,
  sharedDoubles,
  writeBlock,
  writeStarts,
} from "./protocol.ts";
import { scheduledNodes } from "./scheduled_nodes.ts";
import { settlesWithin } from "./settles_within.ts";
import { OVERLAPPING_BLOCKS_MAX } from "./shared/block_slots.ts";
import { NodeMarks } from "./shared/node_marks.ts";

/** What a plan needs of its pool. */
export interface PlanHost {
  tellScheduler(message: MainToScheduler): void;
  /** A run begins, in this order. */
  noteRun(plan: PlanRecord): CallOrder;
  /** The first run has ended. */
  noteEnd(plan: PlanRecord): void;
  /** Takes what executors have posted of failed parts. */
  readFailures(): void;
  /** Ends threads that run parts of unneeded blocks of the plan. */
  endParts(plan: PlanRecord, isUnneeded: (block: number) => boolean): void;
  /** Makes executors drop the plan. */
  release(plan: PlanRecord): void;
}

/** A run whose end the scheduler has not reported. */
interface RunUnderWay {
  readonly number: number;
  /** Its block has run before: it runs alone, and is undone if it fails. */
  readonly isAgain: boolean;
  readonly result: PromiseWithResolvers<void>;
  readonly ended: PromiseWithResolvers<void>;
  /** The first of a part. */
  failure: Error | null;
  /** True once its result was rejected: what still runs of it is not needed. */
  isCut: boolean;
}

/** The main thread's record of an open plan. */
export class PlanRecord implements OpenPlan {
  readonly id: number;
  readonly order: PlanOrder;
  readonly nodeNs: Float64Array<SharedArrayBuffer>;
  readonly #data: PlanData;
  readonly #limits: BlockLimits;
  readonly #host: PlanHost;
  readonly #shared: Pick<LoadMessage, "blockWords" | "starts" | "marks">;
  readonly #marks: NodeMarks;
  readonly #progress: Progress;
  /** Numbers wrap around: records carry them as Int32. */
  #nextNumber: number;
  /** Why a block did not come through, of which the rows are lost until a restart. */
  #interruption: { readonly reason: unknown } | null = null;
  /** Blocks that have ended. */
  #endedCount = 0;
  readonly #underWay: RunUnderWay[] = [];
  refusal: Error | null = null;
  /** Threads that were lost while they loaded the plan. */
  #lostLoads = 0;
  #closed: Promise<void> | null = null;

  /** @throws InternalError if the data does not fit the plan. */
  constructor(id: number, data: PlanData, order: PlanOrder, host: PlanHost, firstNumber: number) {
    this.id = id;
    this.#nextNumber = firstNumber;
    this.#data = data;
    this.order = order;
    this.#limits = checkPlanData(data);
    this.#host = host;
    const { nodes } = data.plan;
    this.nodeNs = sharedDoubles(nodes.length);
    this.#marks = NodeMarks.create(nodes, firstNumber);
    const starts = createNodeStarts(nodes.length);
    this.#shared = { blockWords: createBlockWords(), starts, marks: this.#marks.words };
    this.#progress = new Progress(data.plan);
  }

  get nextRow(): number {
    return this.#progress.nextRow;
  }

  preview(options: SelectionOptions): NodeSelection | null {
    return this.#progress.select(options);
  }

  generationBefore(node: number, rowsBack?: number): number | null {
    return this.#progress.generationBefore(node, rowsBack);
  }

  async run(rows: BlockRows, { signal, ...options }: BlockRunOptions = {}): Promise<void> {
    if (this.refusal) throw this.refusal;
    if (this.#interruption) throw this.#interruption.reason;
    signal?.throwIfAborted();
    const run = this.#submit(rows, options);
    const abort = () => this.#cut(run, signal!.reason);
    signal?.addEventListener("abort", abort, { once: true });
    try {
      await run.result.promise;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  canFollow(count: number): boolean {
    return this.#underWay.length === count && this.#interruption === null && this.#hasRoom;
  }

  get isRestDue(): boolean {
    return this.#progress.isRestDue;
  }

  async room(): Promise<void> {
    while (!this.refusal && !this.#interruption && !this.#hasRoom) await this.#underWay[0]!.ended.promise;
  }

  async idle(): Promise<void> {
    const ended = this.#allEnded();
    const isUnneeded = (block: number) => this.#marks.isCut(block);
    // More than once: an unneeded part may begin late, behind one of another plan.
    while (!(await settlesWithin(ended, PART_GRACE_MS))) this.#host.endParts(this, isUnneeded);
  }

  restart(row = 0): void {
    if (this.#underWay.length > 0) throw new InternalError("a run of the plan is under way");
    if (this.refusal) throw this.refusal;
    this.#interruption = null;
    this.#progress.restart(row);
  }

  close(reason?: Error): Promise<void> {
    this.#closed ??= this.#close(reason);
    return this.#closed;
  }

  loadMessage(): LoadMessage {
    const isLoadable = this.#lostLoads < LOST_LOADS_MAX;
    return { kind: "load", id: this.id, isLoadable, ...this.#shared, ...this.#data };
  }

  openMessage(): MainToScheduler {
    const { id: plan, nodeNs } = this;
    return { kind: "opened", plan, nodes: scheduledNodes(this.#data), nodeNs, marks: this.#marks.words };
  }

  /** Keeps the first failure of a part of a run, which ends with it. */
  noteFailure(block: number, node: number, failure: PartFailure): void {
    const run = this.#runOf(block);
    if (run) run.failure ??= partFailure(this.#data, node, failure);
  }

  /** The same for a part that has ended its thread twice. */
  noteLoss({ block, node }: PartLoss): void {
    const run = this.#runOf(block);
    if (run) run.failure ??= threadLoss(this.#data, node);
  }

  /** The scheduler reports that no part of the run is queued or running any more. */
  endRun({ block }: RunEnd): void {
    const run = this.#runOf(block);
    if (!run) return;
    if (!run.isCut && this.#marks.isCut(block)) {
      // An executor posts what a part threw before the scheduler learns of it; it may not be delivered yet.
      if (!run.failure) this.#host.readFailures();
      this.#cut(run, run.failure ?? new InternalError("a part failed without a cause"));
    } else if (!run.isCut) {
      this.#endedCount++;
      run.result.resolve();
    }
    this.#underWay.splice(this.#underWay.indexOf(run), 1);
    run.ended.resolve();
    this.#host.noteEnd(this);
  }

  #runOf(block: number): RunUnderWay | undefined {
    return this.#underWay.find(({ number }) => number === block);
  }

  /**
   * A thread was lost while it loaded the plan. At the second loss the plan is refused, before it ends more threads.
   */
  noteLostLoad(): void {
    this.#lostLoads++;
    if (this.#lostLoads < LOST_LOADS_MAX) return;
    this.refusal ??= loadLoss(this.#data);
    this.#cutAll(this.refusal);
  }

  /** The operators of a node, and how long its parts take: as measured, else by estimate; null if there is no such node. */
  describe(node: number): { readonly operators: readonly string[]; readonly estimatedMs: number } | null {
    const described = this.#data.plan.nodes[node];
    if (!described) return null;
    const measuredNs = this.nodeNs[node]! / Math.max(1, this.#endedCount);
    const estimatedMs = Math.max(described.costNs, measuredNs) / described.partCount / 1e6;
    return { operators: operatorsOf(this.#data, node), estimatedMs };
  }

  get hasUserOperators(): boolean {
    return this.#data.operators.length > 0;
  }

  /** The threads will report nothing any more. */
  abandon(reason: Error): void {
    this.refusal ??= reason;
    for (const run of this.#underWay.splice(0)) {
      run.result.reject(reason);
      run.ended.resolve();
      this.#host.noteEnd(this);
    }
  }

  /** Whether the next block can begin behind those under way. */
  get #hasRoom(): boolean {
    return this.#underWay.length < OVERLAPPING_BLOCKS_MAX && !this.#underWay.some(({ isAgain }) => isAgain);
  }

  #submit(rows: BlockRows, options: SelectionOptions): RunUnderWay {
    const isAgain = options.block !== undefined && options.block !== "next";
    if (isAgain ? this.#underWay.length > 0 : !this.#hasRoom)
      throw new InternalError("a block cannot begin before there is room");
    const block = { ...rows, ...this.#progress.startOf(options.block) };
    checkBlock(block, this.#limits);
    const { firstRow, rowCount } = block;
    const selection = this.#progress.select(options);
    this.#progress.begin(selection, rowCount, options.block);
    const number = this.#nextNumber;
    this.#nextNumber = (number + 1) | 0;
    const isPartial = selection !== null && !runsWhole(selection, firstRow);
    const run: RunUnderWay = {
      number,
      isAgain,
      result: Promise.withResolvers(),
      ended: Promise.withResolvers(),
      failure: null,
      isCut: false,
    };
    this.#underWay.push(run);
    const order = this.#host.noteRun(this);
    if (selection) writeStarts(this.#shared.starts, number, selection);
    this.#marks.clear(number);
    writeBlock(this.#shared.blockWords, number, { ...block, hasStarts: selection !== null });
    const endRow = firstRow + rowCount;
    this.#host.tellScheduler({
      kind: "submitted",
      plan: this.id,
      block: number,
      ...order,
      isNeeded: isPartial ? selection.isRun : null,
      blocksRun: isPartial ? selection.startRows.map((row) => (endRow - row) / rowCount) : null,
    });
    return run;
  }

  /** Ends a run, and those behind it, which depend on it: nothing else runs until a restart, unless it can be undone. */
  #cut(first: RunUnderWay, reason: unknown): void {
    const at = this.#underWay.indexOf(first);
    if (first.isCut || at < 0) return;
    if (first.isAgain) this.#progress.undo();
    else this.#interruption ??= { reason };
    for (const run of this.#underWay.slice(at)) {
      run.isCut = true;
      run.result.reject(reason);
      this.#marks.cut(run.number);
    }
  }

  #cutAll(reason: Error): void {
    const [first] = this.#underWay;
    if (first) this.#cut(first, reason);
  }

  async #close(reason = planClosed() as Error): Promise<void> {
    this.refusal ??= reason;
    this.#cutAll(this.refusal);
    await this.idle();
    this.#host.release(this);
  }

  async #allEnded(): Promise<void> {
    while (this.#underWay.length > 0) await this.#underWay[0]!.ended.promise;
  }
}

/** Threads that a plan may end while they load it. */
const LOST_LOADS_MAX = 2;

/** Then the thread of an unneeded part is ended. References over thousands of symbols take some 100 ms, code some ms. */
const PART_GRACE_MS = 2_000;
