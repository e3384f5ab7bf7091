import type { BlockRun } from "./block_run.ts";
import { compareCalls } from "./call_order.ts";
import type { Instruction, PartId, RunInstruction, RunRequest, SchedulerEvent } from "./events.ts";
import { ExecutorQueue } from "./executor_queue.ts";
import { type QueueLimits, type QueueOverrides, queueLimits } from "./queue_limits.ts";
import { criticalPathFirst, type ReadyOrder } from "./ready_order.ts";
import { ScheduledPlan } from "./scheduled_plan.ts";
import { findSteal, HAND_OVER_NS } from "./stealing.ts";
import { Tournament } from "./tournament.ts";

/** Does what the scheduler decides. It must not call the scheduler. */
export type CarryOut = (instruction: Instruction) => void;

export interface SchedulerOptions extends QueueOverrides {
  /** The order of ready nodes; the critical path first, unless schedules are compared. */
  readonly order?: ReadyOrder;
  /** Whether idle executors take over queued parts of others. Default true. */
  readonly isStealing?: boolean;
  /** Whether parts are handed out while their inputs are queued and not done. Default true. */
  readonly isRunningAhead?: boolean;
}

/**
 * Decides which part runs on which executor, and when. Pure: the same events always give the same instructions.
 *
 * The steps are numbered as in the design: (1) start; (2) stop when nothing is ready and nothing runs, which is the
 * caller's business: `handleAll` then gives no instruction and none is owed; (3) hand out the heaviest ready nodes
 * until none is left or no queue has room; (4) take completions, (4.5) counting the parts of split nodes; (5) decrement
 * the counters of the children; (6) children that are ready (7) enter the heap.
 *
 * An event costs O(log ready nodes + log executors) per part that it completes or hands out, plus the edges of nodes it
 * completes; a batch of events costs O(runs under way + executors) on top.
 */
export class Scheduler {
  readonly #limits: QueueLimits;
  readonly #order: ReadyOrder;
  readonly #isStealing: boolean;
  readonly #isRunningAhead: boolean;
  readonly #queues: ExecutorQueue[] = [];
  /** The same queues by executor. */
  readonly #queueOf = new Map<number, ExecutorQueue>();
  /** By `ExecutorQueue.fill`: queues with room for parts of the earliest run, and of later ones. */
  #leastFilled = new Tournament(0);
  #leastShort = new Tournament(0);
  /** By all their work: queues that may get parts ahead of their inputs. */
  #leastQueued = new Tournament(0);
  readonly #plans = new Map<number, ScheduledPlan>();
  /** Runs that have not ended, in the order of their calls, the blocks of a call in order. */
  readonly #underWay: BlockRun[] = [];
  #returnCount = 0;
  /** Steals without an answer. */
  #askedCount = 0;

  constructor(options: SchedulerOptions = {}) {
    const { order = criticalPathFirst, isStealing = true, isRunningAhead = true } = options;
    this.#limits = queueLimits(options);
    this.#order = order;
    this.#isStealing = isStealing;
    this.#isRunningAhead = isRunningAhead;
  }

  /** Ready nodes with parts that no executor has. */
  get readyCount(): number {
    return this.#underWay.reduce((sum, run) => sum + run.readyCount, 0);
  }

  get busyCount(): number {
    let count = 0;
    for (const queue of this.#queues) if (queue.partCount > 0) count++;
    return count;
  }

  /** Parts that an executor has and has not returned. */
  queuedCount(executor: number): number {
    return this.#queueOf.get(executor)?.partCount ?? 0;
  }

  /** Whether an executor has the part of a ticket and has not returned it. */
  holds(executor: number, ticket: number): boolean {
    return (this.#queueOf.get(executor)?.slotOf(ticket) ?? null) !== null;
  }

  /**
   * Handles a batch of events in the order in which they happened, then hands out parts once. Each instruction is carried
   * out while later ones are decided: the first executors begin at once.
   */
  handleAll(events: readonly SchedulerEvent[], carryOut: CarryOut): void {
    for (const event of events) this.#take(event, carryOut);
    this.#release(carryOut);
    this.#handOut(carryOut);
    if (this.#isStealing) this.#steal(carryOut);
  }

  /**
   * If nothing is ready any more, gives queues nodes that wait only for queued parts. Executors detect the end of those
   * by themselves, without a turn of the scheduler for every step of a chain. Call it after `handleAll`: executors need
   * not wait for it.
   */
  runAhead(carryOut: CarryOut): void {
    if (!this.#isRunningAhead || this.#underWay.some(({ hasReady }) => hasReady)) return;
    for (const run of this.#underWay) if (!this.#handOutAhead(run, carryOut)) break;
  }

  #take(event: SchedulerEvent, carryOut: CarryOut): void {
    switch (event.kind) {
      case "done":
      case "stolen":
        this.#takeBack(event, carryOut);
        break;
      case "submitted":
        this.#start(event, carryOut);
        break;
      case "opened":
        this.#plans.set(event.plan, new ScheduledPlan(event, this.#order));
        break;
      case "closed":
        this.#plans.delete(event.plan);
        break;
      case "joined":
        this.#join(event.executor);
        break;
      case "fault":
        this.#loseExecutor(event.executor, event.running, carryOut);
        break;
    }
  }

  /** Step 1. */
  #start(request: RunRequest, carryOut: CarryOut): void {
    const run = this.#plans.get(request.plan)!.start(request);
    const later = this.#underWay.findIndex(({ order }) => compareCalls(order, request) > 0);
    this.#underWay.splice(later < 0 ? this.#underWay.length : later, 0, run);
    this.#settle(run, carryOut);
  }

  #join(executor: number): void {
    if (this.#queueOf.has(executor)) throw new Error(`executor ${executor} has joined already`);
    const queue = new ExecutorQueue(executor);
    this.#queues.push(queue);
    this.#queueOf.set(executor, queue);
    this.#arrangeQueues();
  }

  #arrangeQueues(): void {
    this.#leastFilled = new Tournament(this.#queues.length);
    this.#leastShort = new Tournament(this.#queues.length);
    this.#leastQueued = new Tournament(this.#queues.length);
    this.#queues.forEach((queue, place) => {
      queue.place = place;
      this.#noteFill(queue);
    });
  }

  #noteFill(queue: ExecutorQueue): void {
    const { fill } = queue;
    const fillIf = (hasRoom: boolean) => (hasRoom ? fill : Number.POSITIVE_INFINITY);
    const { queueNs, partsMin } = this.#limits;
    this.#leastFilled.set(queue.place, fillIf(queue.runnableNs < queueNs || queue.runnableCount < partsMin));
    this.#leastShort.set(queue.place, fillIf(queue.runnableCount < partsMin));
    this.#leastQueued.set(
      queue.place,
      queue.takesAhead ? queue.queuedNs + queue.partCount : Number.POSITIVE_INFINITY,
    );
  }

  /** Step 4. A report about a part that the executor does not hold is a late report of a lost executor. */
  #takeBack(event: Extract<SchedulerEvent, { kind: "done" | "stolen" }>, carryOut: CarryOut): void {
    const queue = this.#queueOf.get(event.executor);
    const slot = queue?.slotOf(event.ticket) ?? null;
    if (!queue || slot === null) return;
    if (queue.isAsked[slot] === ASKED) {
      this.#askedCount--;
      queue.isAsked[slot] = BEGUN;
    }
    if (event.kind === "stolen" && !event.isTaken) return;
    const run = queue.runs[slot]!;
    const node = queue.nodes[slot]!;
    const part = queue.parts[slot]!;
    queue.take(slot);
    queue.lastReturn = ++this.#returnCount;
    this.#noteFill(queue);
    if (event.kind === "done") run.partDone(node, part, event.ns);
    else run.partReturned(node, part);
    this.#settle(run, carryOut);
  }

  #loseExecutor(executor: number, running: PartId | null, carryOut: CarryOut): void {
    const queue = this.#queueOf.get(executor);
    if (!queue) return;
    this.#queueOf.delete(executor);
    this.#queues.splice(this.#queues.indexOf(queue), 1);
    this.#arrangeQueues();
    for (let slot = 0; slot < queue.runs.length; slot++) {
      const run = queue.runs[slot];
      if (!run) continue;
      if (queue.isAsked[slot] === ASKED) this.#askedCount--;
      const node = queue.nodes[slot]!;
      const part = queue.parts[slot]!;
      const isOfRun = running?.plan === run.plan && running.block === run.block;
      const { plan, block } = run;
      if (run.partLost(node, part, isOfRun && running.node === node && running.part === part))
        carryOut({ kind: "lost", plan, block, node });
    }
  }

  /** Tells executors which parts that they have ahead are now ready. */
  #release(carryOut: CarryOut): void {
    for (const run of this.#underWay) {
      for (let released = run.takeReleased(); released; released = run.takeReleased()) {
        const queue = this.#queueOf.get(released.executor);
        const slot = queue?.slotOf(released.ticket) ?? null;
        if (!queue || slot === null) continue;
        queue.release(slot);
        this.#noteFill(queue);
        carryOut(released);
      }
    }
  }

  /** Ends a run whose last part has come back, once the plan's runs over earlier blocks have ended. */
  #settle(run: BlockRun, carryOut: CarryOut): void {
    if (!run.hasEnded) return;
    const plan = this.#plans.get(run.plan)!;
    for (let first = plan.underWay[0]; first?.hasEnded; first = plan.underWay[0]) {
      this.#underWay.splice(this.#underWay.indexOf(first), 1);
      plan.retireFirst();
      carryOut({ kind: "finished", plan: first.plan, block: first.block });
    }
  }

  /** Step 3: puts the heaviest ready nodes of the earliest run with any into the least filled queues. */
  #handOut(carryOut: CarryOut): void {
    let isLater = false;
    for (const run of this.#underWay) {
      while (run.hasReady) {
        const queue = this.#queueWithRoom(isLater);
        if (!queue) return;
        carryOut(this.#give(run, queue));
      }
      // Later runs get little room, so that the earliest does not wait behind them.
      isLater = true;
    }
  }

  /** False if there was no room for everything that may be handed out ahead. */
  #handOutAhead(run: BlockRun, carryOut: CarryOut): boolean {
    const { costs } = this.#plans.get(run.plan)!;
    for (let node = run.nextAhead; node !== null; node = run.nextAhead) {
      const ns = costs.partNs(node);
      if (ns > AHEAD_NS_MAX) {
        run.leaveOutAhead();
        continue;
      }
      const part = run.nextPart(node);
      const queue = this.#queueAhead(run.nearestExecutor(node, part), ns);
      if (queue === null) return false;
      const instruction = this.#put(run, queue, node, part, true);
      run.handOutAhead(instruction);
      carryOut(instruction);
    }
    return true;
  }

  /** The queue of the nearest executor, unless another one's is shorter by more than moving costs; null without room. */
  #queueAhead(nearest: number | null, ns: number): ExecutorQueue | null {
    const place = this.#leastQueued.first;
    if (place === null) return null;
    const least = this.#queues[place]!;
    const near = nearest === null ? undefined : this.#queueOf.get(nearest);
    const isNear = near?.takesAhead && near.queuedNs - least.queuedNs <= HAND_OVER_NS;
    const queue = isNear ? near : least;
    return queue.queuedNs + ns > this.#limits.aheadNs ? null : queue;
  }

  #give(run: BlockRun, queue: ExecutorQueue): RunInstruction {
    const node = run.nextNode;
    return this.#put(run, queue, node, run.handOut(queue.executor), false);
  }

  #put(run: BlockRun, queue: ExecutorQueue, node: number, part: number, isAhead: boolean): RunInstruction {
    const { plan, block } = run;
    const { call, priority } = run.order;
    const ticket = queue.put(run, node, part, this.#plans.get(plan)!.costs.partNs(node), isAhead);
    this.#noteFill(queue);
    const { executor } = queue;
    return {
      kind: "run",
      executor,
      ticket,
      plan,
      block,
      call,
      priority,
      node,
      part,
      weight: run.weightOf(node),
      isAhead,
    };
  }

  /**
   * The queue with the least work, if it has room; of idle ones the last to become idle, whose thread may not sleep
   * yet.
   */
  #queueWithRoom(isLater: boolean): ExecutorQueue | null {
    const place = (isLater ? this.#leastShort : this.#leastFilled).first;
    return place === null ? null : this.#queues[place]!;
  }

  /** Takes one part back for each executor that has no ready part. */
  #steal(carryOut: CarryOut): void {
    let idleCount = -this.#askedCount;
    for (const queue of this.#queues) if (queue.runnableCount === 0) idleCount++;
    while (idleCount-- > 0) {
      const steal = findSteal(this.#queues, this.#moveNs);
      if (!steal) return;
      const { queue, slot } = steal;
      queue.isAsked[slot] = ASKED;
      this.#askedCount++;
      carryOut({ kind: "steal", executor: queue.executor, ticket: queue.ticketOf(slot) });
    }
  }

  readonly #moveNs = (queue: ExecutorQueue, slot: number): number => {
    const { graph } = this.#plans.get(queue.runs[slot]!.plan)!;
    return graph.nodes[queue.nodes[slot]!]!.moveNs;
  };
}

/** Longer parts are worth a turn of the scheduler, which then knows better who should run them. */
const AHEAD_NS_MAX = 200_000;

/** Values of a slot in `ExecutorQueue.isAsked`. */
const ASKED = 1;
const BEGUN = 2;
