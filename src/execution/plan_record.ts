import { InternalError } from "../errors.ts";
import type { Block } from "../kernel/memory/kernel_set.ts";
import { CatchUp, type NodeSelection, runsWhole } from "../plan/catch_up.ts";
import { generationsOf } from "../plan/plan.ts";
import type { CallOrder, PlanOrder } from "../schedule/call_order.ts";
import type { RunEnd } from "../schedule/events.ts";
import { type BlockRunOptions, type OpenPlan, type Position, START } from "./open_plan.ts";
import { type BlockLimits, checkBlock, checkPlanData } from "./plan_checks.ts";
import {
  loadLoss,
  operatorsOf,
  partFailure,
  planClosed,
  planInterrupted,
  threadLoss,
} from "./plan_failures.ts";
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
  /** Ends threads that run parts of unneeded blocks of the plan. */
  endParts(plan: PlanRecord, isUnneeded: (block: number) => boolean): void;
  /** Makes executors drop the plan. */
  release(plan: PlanRecord): void;
}

/** A run whose end the scheduler has not reported. */
interface RunUnderWay {
  readonly number: number;
  readonly block: Block;
  readonly result: PromiseWithResolvers<void>;
  readonly ended: PromiseWithResolvers<void>;
  /** How far each node was current before it; null for plans without conditions. */
  readonly positions: Float64Array | null;
  failure: PartFailure | null;
  /** True if it does not count: its caller may run the block again. */
  isTakenBack: boolean;
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
  /** How far each node is current; null for plans without conditions. */
  readonly #catchUp: CatchUp | null;
  /** Numbers wrap around: records carry them as Int32. */
  #nextNumber: number;
  /** How often blocks were taken back: those that wait for their turn are then out of order. */
  #interruptions = 0;
  /** Blocks that have ended. */
  #endedCount = 0;
  /** Runs that wait for room, and when the last of them has begun. */
  #waitCount = 0;
  #lastTurn: Promise<void> = Promise.resolve();
  /** The position after the last successful block. */
  #settled = START;
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
    this.#catchUp = new CatchUp(data.plan);
  }

  get next(): Position {
    const last = this.#underWay.findLast(({ isTakenBack }) => !isTakenBack);
    return last ? this.#positionAfter(last.block) : this.#settled;
  }

  preview(firstRow: number, { conditions, ...options }: BlockRunOptions): NodeSelection | null {
    return this.#catchUp?.select(conditions ?? null, firstRow, options) ?? null;
  }

  generationBefore(row: number, node: number): number | null {
    if (this.#catchUp) return this.#catchUp.generationBefore(row, node);
    const { row: nextRow, generation } = this.next;
    const count = generationsOf(this.#data.plan);
    return (generation + count - (nextRow - row)) % count;
  }

  async run(block: Block, { signal, ...options }: BlockRunOptions = {}): Promise<void> {
    const interruptions = this.#interruptions;
    const pass = this.#waitCount > 0 || this.#mustWait() ? await this.#awaitTurn() : null;
    let run: RunUnderWay;
    try {
      if (this.refusal) throw this.refusal;
      if (this.#interruptions > interruptions) throw planInterrupted();
      signal?.throwIfAborted();
      checkBlock(block, this.#limits);
      run = this.#submit(block, options);
    } finally {
      pass?.();
    }
    if (!signal) return await run.result.promise;
    const abort = () => this.#takeBack(run, signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    try {
      await run.result.promise;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  /** Waits for room behind those that wait already; returns what lets the next one go on. */
  async #awaitTurn(): Promise<() => void> {
    const before = this.#lastTurn;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#lastTurn = promise;
    this.#waitCount++;
    await before;
    await this.room();
    return () => {
      this.#waitCount--;
      resolve();
    };
  }

  canFollow(count: number): boolean {
    return this.#underWay.length === count && !this.#mustWait();
  }

  get isRestDue(): boolean {
    return this.#catchUp?.isRestDue(this.next.row) ?? false;
  }

  async room(): Promise<void> {
    while (this.#mustWait()) await (this.#isInterrupted ? this.idle() : this.#underWay[0]!.ended.promise);
  }

  async idle(): Promise<void> {
    const ended = this.#allEnded();
    const isUnneeded = (block: number) =>
      this.#underWay.some((run) => run.isTakenBack && run.number === block);
    // More than once: an unneeded part may begin late, behind one of another plan.
    while (!(await settlesWithin(ended, PART_GRACE_MS))) this.#host.endParts(this, isUnneeded);
  }

  restart(): void {
    if (this.#underWay.length > 0) throw new InternalError("a run of the plan is under way");
    if (this.refusal) throw this.refusal;
    this.#catchUp?.restart();
    this.#settled = START;
  }

  close(reason?: Error): Promise<void> {
    this.#closed ??= this.#close(reason);
    return this.#closed;
  }

  loadMessage(): LoadMessage {
    return { kind: "load", id: this.id, ...this.#shared, ...this.#data };
  }

  openMessage(): MainToScheduler {
    const { id: plan, nodeNs } = this;
    return { kind: "opened", plan, nodes: scheduledNodes(this.#data), nodeNs, marks: this.#marks.words };
  }

  /** Keeps the first failure of a part of a run; the scheduler reports when the run has failed. */
  noteFailure(block: number, failure: PartFailure): void {
    const run = this.#underWay.find(({ number }) => number === block);
    if (run) run.failure ??= failure;
  }

  /** The scheduler reports that no part of the run is queued or running any more. */
  endRun(end: RunEnd): void {
    const run = this.#underWay.find(({ number }) => number === end.block);
    if (!run) return;
    this.#underWay.splice(this.#underWay.indexOf(run), 1);
    if (end.kind !== "finished") this.#failRun(run, end);
    // The end of an aborted run may have been on its way: its block does not count, since its caller runs it again.
    else if (!run.isTakenBack) {
      this.#settled = this.#positionAfter(run.block);
      this.#endedCount++;
      run.result.resolve();
    }
    run.ended.resolve();
    this.#host.noteEnd(this);
  }

  /**
   * A thread was lost while it loaded the plan. At the second loss the plan is refused, before it ends more threads.
   */
  noteLostLoad(): void {
    this.#lostLoads++;
    if (this.isLoadable) return;
    this.refusal ??= loadLoss(this.#data);
    this.#cancelAll();
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

  /** False once loading the plan has ended its thread twice. */
  get isLoadable(): boolean {
    return this.#lostLoads < LOST_LOADS_MAX;
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

  /** True while a requested run must not begin. */
  #mustWait(): boolean {
    return !this.refusal && (this.#isInterrupted || this.#underWay.length >= OVERLAPPING_BLOCKS_MAX);
  }

  /** True from an abort until no part of what it took back runs any more. */
  get #isInterrupted(): boolean {
    return this.#underWay.some(({ isTakenBack }) => isTakenBack);
  }

  #submit(block: Block, options: Omit<BlockRunOptions, "signal">): RunUnderWay {
    const selection = this.preview(block.firstRow, options);
    const positions = this.#catchUp?.positions() ?? null;
    const endRow = block.firstRow + block.rowCount;
    if (selection) this.#catchUp!.commit(selection, block.firstRow, endRow, options.addsRemainingNodes);
    const number = this.#nextNumber;
    this.#nextNumber = (number + 1) | 0;
    const isPartial = selection !== null && !runsWhole(selection, block.firstRow);
    const run: RunUnderWay = {
      number,
      block,
      result: Promise.withResolvers(),
      ended: Promise.withResolvers(),
      positions,
      failure: null,
      isTakenBack: false,
    };
    this.#underWay.push(run);
    const order = this.#host.noteRun(this);
    if (selection) writeStarts(this.#shared.starts, number, selection);
    this.#marks.clear(number);
    writeBlock(this.#shared.blockWords, number, { ...block, hasStarts: selection !== null });
    this.#host.tellScheduler({
      kind: "submitted",
      plan: this.id,
      block: number,
      ...order,
      isNeeded: isPartial ? selection.isRun : null,
      blocksRun: isPartial ? selection.startRows.map((row) => (endRow - row) / block.rowCount) : null,
    });
    return run;
  }

  #failRun(run: RunUnderWay, end: Exclude<RunEnd, { kind: "finished" }>): void {
    const { result, failure } = run;
    if (end.kind === "cancelled")
      result.reject(this.refusal ?? new InternalError("a run was cancelled without a cause"));
    else if (end.reason === "executor") result.reject(threadLoss(this.#data, end.node));
    else result.reject(partFailure(this.#data, end.node, failure));
    if (run.isTakenBack) return;
    this.#interruptions++;
    // A block that was submitted while this end was on its way is not cancelled yet.
    const [next] = this.#underWay;
    if (next) this.#takeBack(next, this.#interruption(1 + this.#underWay.length));
    if (run.positions) this.#catchUp!.restore(run.positions);
  }

  /** Takes back a run and those behind it, which depend on it. */
  #takeBack(first: RunUnderWay, reason: unknown): void {
    const behind = this.#underWay.slice(this.#underWay.indexOf(first));
    if (first.isTakenBack || behind[0] !== first) return;
    const interruption = this.#interruption(behind.length);
    this.#interruptions++;
    for (const run of behind) {
      if (!run.isTakenBack) run.result.reject(run === first ? reason : interruption);
      run.isTakenBack = true;
    }
    if (first.positions) this.#catchUp!.restore(first.positions);
    this.#host.tellScheduler({ kind: "cancel", plan: this.id, block: first.number });
  }

  /** Why runs behind the first of these are taken back: nodes may have advanced to later blocks. */
  #interruption(runCount: number): Error {
    if (runCount > 1 + this.#data.plan.undoBlocks) this.refusal ??= planInterrupted();
    return this.refusal ?? planInterrupted();
  }

  #cancelAll(): void {
    for (const { result } of this.#underWay) result.reject(this.refusal);
    const [first] = this.#underWay;
    if (first) this.#takeBack(first, this.refusal);
  }

  async #close(reason = planClosed() as Error): Promise<void> {
    this.refusal ??= reason;
    this.#cancelAll();
    await this.idle();
    this.#host.release(this);
  }

  #positionAfter({ firstRow, rowCount, generation }: Block): Position {
    const next = (generation + 1) % generationsOf(this.#data.plan);
    return { row: firstRow + rowCount, generation: next };
  }

  async #allEnded(): Promise<void> {
    while (this.#underWay.length > 0) await this.#underWay[0]!.ended.promise;
  }
}

/** Threads that a plan may end while they load it. */
const LOST_LOADS_MAX = 2;

/** Then the thread of an unneeded part is ended. References over thousands of symbols take some 100 ms, code some ms. */
const PART_GRACE_MS = 2_000;
