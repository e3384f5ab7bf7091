import { expect } from "vitest";
import type {
  Instruction,
  PartId,
  RunInstruction,
  ScheduledNode,
  SchedulerEvent,
} from "../../src/schedule/events.ts";
import { Scheduler } from "../../src/schedule/scheduler.ts";

/** An open plan and the last run of it. */
interface PlanModel {
  readonly nodes: readonly ScheduledNode[];
  readonly partsDone: Set<string>;
  outstanding: number;
  isEnding: boolean;
  end: Instruction | null;
}

const keyOf = (node: number, part: number) => `${node}:${part}`;

/**
 * Executors and plans around a scheduler, which check every instruction against what the design promises. They keep
 * their own, naive account of what is done.
 */
export class CheckedWorld {
  readonly plans: PlanModel[] = [];
  readonly queues = new Map<number, RunInstruction[]>();
  readonly #scheduler: Scheduler;
  readonly #queueParts: number;

  constructor(queueParts: number) {
    this.#queueParts = queueParts;
    this.#scheduler = new Scheduler(queueParts);
  }

  /** Opens a plan and runs it. */
  submit(nodes: readonly ScheduledNode[]): SchedulerEvent[] {
    const plan = this.plans.length;
    this.plans.push({ nodes, partsDone: new Set(), outstanding: 0, isEnding: false, end: null });
    return [
      { kind: "opened", plan, nodes },
      { kind: "submitted", plan },
    ];
  }

  /** Runs a plan whose run has ended once more. */
  resubmit(plan: number): SchedulerEvent {
    const model = this.plans[plan]!;
    model.partsDone.clear();
    model.isEnding = false;
    model.end = null;
    return { kind: "submitted", plan };
  }

  join(executor: number): SchedulerEvent {
    this.queues.set(executor, []);
    return { kind: "joined", executor };
  }

  /** A queued part, chosen by `pick`, is done (or its kernel threw). */
  complete(executor: number, pick: number, kind: "done" | "failed"): SchedulerEvent {
    const queue = this.queues.get(executor)!;
    const [run] = queue.splice(pick % queue.length, 1);
    const { plan, node, part } = run!;
    const model = this.plans[plan]!;
    model.outstanding--;
    if (kind === "failed") model.isEnding = true;
    else model.partsDone.add(keyOf(node, part));
    return { kind, executor, plan, node, part };
  }

  lose(executor: number, pick: number | null): SchedulerEvent {
    const queue = this.queues.get(executor)!;
    this.queues.delete(executor);
    for (const { plan } of queue) this.plans[plan]!.outstanding--;
    const running: PartId | null = pick === null || queue.length === 0 ? null : queue[pick % queue.length]!;
    return { kind: "fault", executor, running };
  }

  cancel(plan: number): SchedulerEvent {
    if (this.plans[plan]) this.plans[plan].isEnding = true;
    return { kind: "cancel", plan };
  }

  /** Lets the scheduler take events and checks what it says. */
  handle(events: readonly SchedulerEvent[]): Instruction[] {
    const instructions = this.#scheduler.handleAll(events);
    for (const instruction of instructions) {
      if (instruction.kind === "run") this.#start(instruction);
      else this.#endRun(instruction);
    }
    return instructions;
  }

  isNodeDone({ nodes, partsDone }: PlanModel, node: number): boolean {
    for (let part = 0; part < nodes[node]!.partCount; part++) {
      if (!partsDone.has(keyOf(node, part))) return false;
    }
    return true;
  }

  /** Parts that could run now: inputs done, neither done nor queued. */
  readyParts(plan: PlanModel): string[] {
    const id = this.plans.indexOf(plan);
    const queued = new Set(
      [...this.queues.values()].flat().map((run) => `${run.plan}:${keyOf(run.node, run.part)}`),
    );
    const ready: string[] = [];
    plan.nodes.forEach(({ inputs, partCount }, node) => {
      if (!inputs.every((input) => this.isNodeDone(plan, input))) return;
      for (let part = 0; part < partCount; part++) {
        const key = keyOf(node, part);
        if (!plan.partsDone.has(key) && !queued.has(`${id}:${key}`)) ready.push(key);
      }
    });
    return ready;
  }

  get hasRoom(): boolean {
    return [...this.queues.values()].some((queue) => queue.length < this.#queueParts);
  }

  #start(run: RunInstruction): void {
    const plan = this.plans[run.plan]!;
    const queue = this.queues.get(run.executor)!;
    const { inputs, partCount } = plan.nodes[run.node]!;
    expect(plan.end, "no part after the end").toBeNull();
    expect(plan.isEnding, "no part of a run that is ending").toBe(false);
    expect(run.part >= 0 && run.part < partCount).toBe(true);
    expect(
      inputs.every((input) => this.isNodeDone(plan, input)),
      "inputs are done",
    ).toBe(true);
    expect(plan.partsDone.has(keyOf(run.node, run.part)), "a part that is done is not run again").toBe(false);
    const isQueued = [...this.queues.values()]
      .flat()
      .some((other) => other.plan === run.plan && other.node === run.node && other.part === run.part);
    expect(isQueued, "a part is in one queue only").toBe(false);
    queue.push(run);
    plan.outstanding++;
    expect(queue.length, "queues are bounded").toBeLessThanOrEqual(this.#queueParts);
  }

  #endRun(end: Exclude<Instruction, RunInstruction>): void {
    const plan = this.plans[end.plan]!;
    expect(plan.end, "a run ends once").toBeNull();
    expect(plan.outstanding, "a run ends with its last part").toBe(0);
    if (end.kind === "finished") {
      plan.nodes.forEach((_, node) => {
        expect(this.isNodeDone(plan, node)).toBe(true);
      });
    }
    plan.end = end;
  }
}
