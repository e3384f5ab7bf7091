import { expect } from "vitest";
import type {
  Instruction,
  PartId,
  PartLoss,
  ReleaseInstruction,
  RunEnd,
  RunInstruction,
  ScheduledNode,
  SchedulerEvent,
  StealInstruction,
} from "../../src/schedule/events.ts";
import { QUEUE_SLOTS } from "../../src/schedule/executor_queue.ts";
import { HAND_OVER_NS } from "../../src/schedule/stealing.ts";
import { ListedScheduler } from "./listed_scheduler.ts";

/** The run of a plan over one block. */
export class RunModel {
  readonly plan: PlanModel;
  readonly block: number;
  readonly call: number;
  readonly priority: number;
  readonly isNeeded: Uint8Array | null;
  readonly partsDone = new Set<string>();
  readonly #doneCounts: Int32Array;
  /** Parts that were handed out. */
  readonly handedOut = new Set<string>();
  /** Parts that were running on a lost executor. */
  readonly suspects = new Set<string>();
  outstanding = 0;
  /** Executors pass over its parts. */
  isCut = false;
  end: RunEnd | null = null;

  constructor(
    plan: PlanModel,
    block: number,
    { call, priority }: { readonly call: number; readonly priority: number },
    isNeeded: Uint8Array | null,
  ) {
    this.plan = plan;
    this.block = block;
    this.call = call;
    this.priority = priority;
    this.isNeeded = isNeeded;
    this.#doneCounts = new Int32Array(plan.nodes.length);
  }

  noteDone(node: number, part: number): void {
    this.partsDone.add(keyOf(node, part));
    this.suspects.delete(keyOf(node, part));
    this.#doneCounts[node]!++;
  }

  isNodeDone(node: number): boolean {
    return this.#doneCounts[node] === this.plan.nodes[node]!.partCount;
  }

  /** True if nothing of this run or of those before it reads or writes the node any more. */
  isSettled(node: number): boolean {
    return this.isNeeded?.[node] === 0 ? this.isFree(node) : this.isNodeDone(node);
  }

  get isDone(): boolean {
    return this.plan.nodes.every((_, node) => this.isNeeded?.[node] === 0 || this.isNodeDone(node));
  }

  /** True if the node may run: its inputs have ended this block; it and its readers have ended the one before. */
  isOpen(node: number): boolean {
    const { nodes } = this.plan;
    if (this.isNeeded?.[node] === 0) return false;
    const hasInputs = nodes[node]!.inputs.every(
      (input) => this.isNeeded?.[input] === 0 || this.isNodeDone(input),
    );
    return hasInputs && this.isFree(node);
  }

  /** True if the node and its readers have ended the block before. */
  isFree(node: number): boolean {
    const { nodes, runs } = this.plan;
    const before = runs[runs.indexOf(this) - 1];
    if (!before || before.end) return true;
    const reads = (user: number) =>
      !nodes[node]!.keepsRows && before.isNeeded?.[user] !== 0 && nodes[user]!.inputs.includes(node);
    return before.isSettled(node) && nodes.every((_, user) => !reads(user) || before.isNodeDone(user));
  }
}

export interface PlanModel {
  readonly id: number;
  /** Of all its runs. */
  readonly priority: number;
  readonly nodes: readonly ScheduledNode[];
  /** In the order of submission. */
  readonly runs: RunModel[];
}

interface QueuedPart {
  readonly run: RunModel;
  readonly instruction: RunInstruction;
  readonly ns: number;
  isAsked: boolean;
  isBegun: boolean;
  /** Handed out ahead, and not released yet. */
  isAhead: boolean;
}

export interface WorldOptions {
  readonly queueNs: number;
  readonly queuePartsMin: number;
}

/** Share of a queue's ns up to which parts are handed out ahead. */
const AHEAD_SHARE = 0.5;

const keyOf = (node: number, part: number) => `${node}:${part}`;

/**
 * Executors and plans around a scheduler; they check every instruction against the design, with a naive record of their
 * own of what is done. Parts take as long as estimated, so that estimates and weights do not change.
 */
export class CheckedWorld {
  readonly plans: PlanModel[] = [];
  readonly queues = new Map<number, QueuedPart[]>();
  /** Runs that have not ended, in the order of their parts. */
  #underWay: RunModel[] = [];
  readonly #scheduler: ListedScheduler;
  readonly #options: WorldOptions;
  /** Parts that have lost two executors, which the scheduler is to tell of. */
  readonly #losses: PartId[] = [];

  constructor(options: WorldOptions) {
    this.#options = options;
    this.#scheduler = new ListedScheduler(options);
  }

  open(nodes: readonly ScheduledNode[], priority = 0): SchedulerEvent {
    const plan = this.plans.length;
    this.plans.push({ id: plan, priority, nodes, runs: [] });
    return { kind: "opened", plan, nodes };
  }

  /** True if another run of the plan may be submitted now. */
  maySubmit(plan: number, overlap: number): boolean {
    const underWay = this.plans[plan]!.runs.filter(({ end }) => !end);
    return underWay.length < overlap;
  }

  submit(plan: number, call: number, isNeeded: Uint8Array | null): SchedulerEvent {
    const model = this.plans[plan]!;
    const before = model.runs.at(-1);
    const order = { call: Math.max(call, before?.call ?? 0), priority: model.priority };
    const run = new RunModel(model, model.runs.length, order, isNeeded);
    model.runs.push(run);
    const isLater = (other: RunModel) =>
      other.priority < run.priority || (other.priority === run.priority && other.call > run.call);
    this.#underWay = [
      ...this.#underWay.filter((other) => !isLater(other)),
      run,
      ...this.#underWay.filter(isLater),
    ];
    return { kind: "submitted", plan, block: run.block, ...order, isNeeded };
  }

  join(executor: number): SchedulerEvent {
    this.queues.set(executor, []);
    return { kind: "joined", executor };
  }

  /** Parts of an executor that it may run: of those handed out ahead the ones whose inputs are done. */
  runnable(executor: number): QueuedPart[] {
    return this.queues.get(executor)!.filter((queued) => mayRun(queued));
  }

  /** A queued part, chosen by `pick`, is done (or its kernel threw); nothing is run of a block that is cut. */
  complete(executor: number, pick: number, fails = false): SchedulerEvent {
    const queue = this.queues.get(executor)!;
    const choice = this.runnable(executor);
    const done = choice[pick % choice.length]!;
    queue.splice(queue.indexOf(done), 1);
    const { run, instruction, ns } = done;
    const { ticket, node, part } = instruction;
    run.outstanding--;
    run.noteDone(node, part);
    run.isCut ||= fails;
    return { kind: "done", executor, ticket, ns: run.isCut ? null : ns };
  }

  /** Answers the first waiting steal; null if no steal waits. */
  answerSteal(isBegun: boolean): SchedulerEvent | null {
    for (const [executor, queue] of this.queues) {
      const index = queue.findIndex((queued) => queued.isAsked && !queued.isBegun);
      if (index < 0) continue;
      const queued = queue[index]!;
      const { ticket } = queued.instruction;
      const isTaken = !isBegun || !mayRun(queued);
      if (isTaken) {
        queue.splice(index, 1);
        queued.run.outstanding--;
      } else queued.isBegun = true;
      return { kind: "stolen", executor, ticket, isTaken };
    }
    return null;
  }

  lose(executor: number, pick: number | null): SchedulerEvent {
    const queue = this.queues.get(executor)!;
    const choice = this.runnable(executor);
    this.queues.delete(executor);
    const running = pick === null ? undefined : choice[pick % choice.length];
    for (const queued of queue) queued.run.outstanding--;
    if (running) {
      const { run, instruction } = running;
      const key = keyOf(instruction.node, instruction.part);
      if (run.suspects.has(key)) this.#losses.push(idOf(instruction));
      run.suspects.add(key);
    }
    return { kind: "fault", executor, running: running ? idOf(running.instruction) : null };
  }

  /** Nobody needs one of the runs so far, chosen by `pick`, nor those behind it: the scheduler is not told. */
  cut(plan: number, pick: number): void {
    const runs = this.plans[plan]?.runs ?? [];
    for (const run of runs.slice(pick % Math.max(1, runs.length))) run.isCut = true;
  }

  /** Passes events to the scheduler and checks its instructions. */
  handle(events: readonly SchedulerEvent[]): Instruction[] {
    const instructions = [...this.#scheduler.handleAll(events), ...this.#scheduler.runAhead()];
    for (const instruction of instructions) {
      if (instruction.kind === "run") this.#start(instruction);
      else if (instruction.kind === "release") this.#release(instruction);
      else if (instruction.kind === "steal") this.#noteSteal(instruction);
      else if (instruction.kind === "lost") this.#noteLoss(instruction);
      else this.#endRun(instruction);
    }
    expect(this.#losses, "all losses are told").toEqual([]);
    this.#expectNothingForgotten();
    return instructions;
  }

  /** Parts that could run now and are neither done nor queued. */
  readyParts(run: RunModel): { readonly node: number; readonly part: number }[] {
    if (run.end) return [];
    const queued = new Set(
      this.#allQueued().flatMap((other) =>
        other.run === run ? [keyOf(other.instruction.node, other.instruction.part)] : [],
      ),
    );
    return run.plan.nodes.flatMap(({ partCount }, node) => {
      if (!run.isOpen(node)) return [];
      const parts = Array.from({ length: partCount }, (_, part) => ({ node, part }));
      return parts.filter(({ part }) => {
        return !run.partsDone.has(keyOf(node, part)) && !queued.has(keyOf(node, part));
      });
    });
  }

  #allQueued(): QueuedPart[] {
    return [...this.queues.values()].flat();
  }

  /** Parts of later runs only keep queues from running dry; parts ahead take no room. */
  #hasRoom(queue: readonly QueuedPart[], run: RunModel): boolean {
    if (queue.length >= QUEUE_SLOTS) return false;
    const ready = queue.filter(({ isAhead }) => !isAhead);
    if (ready.length < this.#options.queuePartsMin) return true;
    const isEarliest = this.#underWay[0] === run;
    return isEarliest && nsOf(ready) < this.#options.queueNs;
  }

  #start(instruction: RunInstruction): void {
    const { plan, block, node, part } = instruction;
    const run = this.plans[plan]!.runs.find((one) => one.block === block)!;
    const queue = this.queues.get(instruction.executor)!;
    expect(run.end, "no part after the end").toBeNull();
    expect(instruction.call).toBe(run.call);
    const { weight, costNs, partCount } = run.plan.nodes[node]!;
    expect(instruction.weight).toBe(weight);
    for (const earlier of this.#underWay.slice(0, this.#underWay.indexOf(run)))
      expect(this.readyParts(earlier), "parts of earlier calls and blocks go first").toEqual([]);
    const ready = this.readyParts(run);
    if (instruction.isAhead) this.#expectAhead(run, instruction, costNs / partCount + nsOf(queue));
    else {
      expect(ready, "runnable, neither done nor queued").toContainEqual({ node, part });
      const heaviest = Math.max(...ready.map((other) => run.plan.nodes[other.node]!.weight));
      expect(weight, "the heaviest goes first").toBe(heaviest);
      expect(this.#hasRoom(queue, run), "queues are bounded").toBe(true);
    }
    const slot = instruction.ticket % QUEUE_SLOTS;
    const slots = queue.map((other) => other.instruction.ticket % QUEUE_SLOTS);
    expect(slots, "one slot, one part").not.toContain(slot);
    const { isAhead } = instruction;
    queue.push({ run, instruction, ns: costNs / partCount, isAsked: false, isBegun: false, isAhead });
    run.outstanding++;
    run.handedOut.add(keyOf(node, part));
  }

  /** Checks that the node waits only for nodes of which every part is queued, or was until its executor was lost. */
  #expectAhead(run: RunModel, { node, part }: PartId, queuedNs: number): void {
    const { nodes } = run.plan;
    const isQueued = this.#allQueued().some(
      ({ run: other, instruction }) =>
        other === run && instruction.node === node && instruction.part === part,
    );
    expect(run.isNeeded, "all nodes are run").toBeNull();
    expect(run.partsDone.has(keyOf(node, part)) || isQueued, "neither done nor queued").toBe(false);
    expect(run.isFree(node), "the block before is done with it").toBe(true);
    for (const input of nodes[node]!.inputs) {
      if (run.isNodeDone(input)) continue;
      for (let each = 0; each < nodes[input]!.partCount; each++)
        expect(run.handedOut.has(keyOf(input, each))).toBe(true);
    }
    expect(queuedNs, "there is room").toBeLessThanOrEqual(AHEAD_SHARE * this.#options.queueNs);
  }

  #release({ executor, ticket }: ReleaseInstruction): void {
    const queued = this.queues.get(executor)!.find((one) => one.instruction.ticket === ticket)!;
    expect(queued.isAhead, "released once").toBe(true);
    expect(queued.run.isOpen(queued.instruction.node), "what is released may run").toBe(true);
    queued.isAhead = false;
  }

  #noteSteal({ executor, ticket }: StealInstruction): void {
    const queue = this.queues.get(executor)!;
    const queued = queue.find((one) => one.instruction.ticket === ticket)!;
    expect(queued, "what is stolen is queued").toBeDefined();
    expect(queued.isAsked, "asked for once").toBe(false);
    queued.isAsked = true;
    expect(queued.isAhead, "what waits for its inputs is not stolen").toBe(false);
    const asked = this.#allQueued().filter((one) => one.isAsked && !one.isBegun && !one.isAhead).length;
    const idle = [...this.queues.values()].filter((one) => one.every(({ isAhead }) => isAhead)).length;
    expect(asked, "one steal per idle executor").toBeLessThanOrEqual(idle);
    const { moveNs } = queued.run.plan.nodes[queued.instruction.node]!;
    const restNs = nsOf(queue.filter(({ isAhead }) => !isAhead)) - queued.ns;
    expect(restNs, "moved before its owner would begin it").toBeGreaterThanOrEqual(HAND_OVER_NS + moveNs);
  }

  #noteLoss({ plan, block, node }: PartLoss): void {
    const at = this.#losses.findIndex(
      (part) => part.plan === plan && part.block === block && part.node === node,
    );
    expect(at, "lost twice").toBeGreaterThanOrEqual(0);
    this.#losses.splice(at, 1);
    this.plans[plan]!.runs.find((one) => one.block === block)!.isCut = true;
  }

  #endRun(end: RunEnd): void {
    const { runs } = this.plans[end.plan]!;
    const run = runs.find(({ block }) => block === end.block)!;
    expect(run.end, "a run ends once").toBeNull();
    expect(run.outstanding, "a run ends with its last part").toBe(0);
    expect(runs.find((one) => !one.end)?.block, "blocks end in order").toBe(end.block);
    expect(run.isDone, "all its parts are done").toBe(true);
    run.end = end;
    this.#underWay.splice(this.#underWay.indexOf(run), 1);
  }

  #expectNothingForgotten(): void {
    for (const { runs } of this.plans) {
      const first = runs.find(({ end }) => !end);
      if (first?.outstanding === 0) expect(first.isDone, "it would have ended").toBe(false);
    }
    for (const run of this.#underWay) {
      const hasRoom = [...this.queues.values()].some((queue) => this.#hasRoom(queue, run));
      if (hasRoom) expect(this.readyParts(run), "no executor starves").toEqual([]);
    }
  }
}

function mayRun({ run, instruction, isAhead }: QueuedPart): boolean {
  return !isAhead || run.isOpen(instruction.node);
}

function nsOf(queue: readonly QueuedPart[]): number {
  return queue.reduce((sum, { ns }) => sum + ns, 0);
}

function idOf({ plan, block, node, part }: RunInstruction): PartId {
  return { plan, block, node, part };
}
