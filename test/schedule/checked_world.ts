import { expect } from "vitest";
import type { Instruction, PartId, RunInstruction, SchedulerEvent } from "../../src/schedule/events.ts";
import { Scheduler } from "../../src/schedule/scheduler.ts";
import type { RandomGraph } from "./random_graph.ts";

interface CallModel {
  readonly graph: RandomGraph;
  readonly slotCount: number;
  readonly partsDone: Set<string>;
  readonly slotOf: Map<number, number>;
  outstanding: number;
  isEnding: boolean;
  end: Instruction | null;
}

const keyOf = (node: number, part: number) => `${node}:${part}`;

/**
 * Executors and calls around a scheduler, which check every instruction against what the design promises. They
 * keep their own, naive account of what is done and which columns are alive.
 */
export class CheckedWorld {
  readonly calls: CallModel[] = [];
  readonly queues = new Map<number, RunInstruction[]>();
  readonly #scheduler: Scheduler;
  readonly #queueParts: number;

  constructor(queueParts: number) {
    this.#queueParts = queueParts;
    this.#scheduler = new Scheduler(queueParts);
  }

  submit(graph: RandomGraph, slotCount: number): SchedulerEvent {
    const call = this.calls.length;
    this.calls.push({
      graph,
      slotCount,
      partsDone: new Set(),
      slotOf: new Map(),
      outstanding: 0,
      isEnding: false,
      end: null,
    });
    return { kind: "submitted", call, ...graph, slotCount };
  }

  join(executor: number): SchedulerEvent {
    this.queues.set(executor, []);
    return { kind: "joined", executor };
  }

  /** A queued part, chosen by `pick`, is done (or its kernel threw). */
  complete(executor: number, pick: number, kind: "done" | "failed"): SchedulerEvent {
    const queue = this.queues.get(executor)!;
    const [run] = queue.splice(pick % queue.length, 1);
    const { call, node, part } = run!;
    const model = this.calls[call]!;
    model.outstanding--;
    if (kind === "failed") model.isEnding = true;
    else {
      model.partsDone.add(keyOf(node, part));
      this.#releaseColumns(model);
    }
    return { kind, executor, call, node, part };
  }

  lose(executor: number, pick: number | null): SchedulerEvent {
    const queue = this.queues.get(executor)!;
    this.queues.delete(executor);
    for (const { call } of queue) this.calls[call]!.outstanding--;
    const running: PartId | null = pick === null || queue.length === 0 ? null : queue[pick % queue.length]!;
    return { kind: "fault", executor, running };
  }

  cancel(call: number): SchedulerEvent {
    if (this.calls[call]) this.calls[call].isEnding = true;
    return { kind: "cancel", call };
  }

  /** Lets the scheduler take events and checks what it says. */
  handle(events: readonly SchedulerEvent[]): Instruction[] {
    const instructions = this.#scheduler.handleAll(events);
    for (const instruction of instructions) {
      if (instruction.kind === "run") this.#start(instruction);
      else this.#endCall(instruction);
    }
    this.calls.forEach((call, id) => {
      if (!call.end) expect(this.#scheduler.progress(id)?.partsDone).toBe(call.partsDone.size);
    });
    return instructions;
  }

  isNodeDone(call: CallModel, node: number): boolean {
    for (let part = 0; part < call.graph.nodes[node]!.partCount; part++) {
      if (!call.partsDone.has(keyOf(node, part))) return false;
    }
    return true;
  }

  /** Parts that could run now: inputs done, neither done nor queued. */
  readyParts(call: CallModel): string[] {
    const queued = new Set(
      [...this.queues.values()].flat().map((run) => `${run.call}:${keyOf(run.node, run.part)}`),
    );
    const ready: string[] = [];
    call.graph.nodes.forEach(({ inputs, partCount }, node) => {
      if (!call.graph.wanted[node] || !inputs.every((input) => this.isNodeDone(call, input))) return;
      for (let part = 0; part < partCount; part++) {
        const key = keyOf(node, part);
        if (!call.partsDone.has(key) && !queued.has(`${this.calls.indexOf(call)}:${key}`)) ready.push(key);
      }
    });
    return ready;
  }

  get hasRoom(): boolean {
    return [...this.queues.values()].some((queue) => queue.length < this.#queueParts);
  }

  #start(run: RunInstruction): void {
    const call = this.calls[run.call]!;
    const queue = this.queues.get(run.executor)!;
    const { inputs, partCount } = call.graph.nodes[run.node]!;
    expect(call.end, "no part after the end").toBeNull();
    expect(call.isEnding, "no part of a call that is ending").toBe(false);
    expect(call.graph.wanted[run.node], "wanted nodes only").toBe(1);
    expect(run.part >= 0 && run.part < partCount).toBe(true);
    expect(
      inputs.every((input) => this.isNodeDone(call, input)),
      "inputs are done",
    ).toBe(true);
    expect(call.partsDone.has(keyOf(run.node, run.part)), "a part that is done is not run again").toBe(false);
    const isQueued = [...this.queues.values()]
      .flat()
      .some((other) => other.call === run.call && other.node === run.node && other.part === run.part);
    expect(isQueued, "a part is in one queue only").toBe(false);
    this.#checkSlot(call, run);
    queue.push(run);
    call.outstanding++;
    expect(queue.length, "queues are bounded").toBeLessThanOrEqual(this.#queueParts);
  }

  #checkSlot(call: CallModel, { node, slot }: RunInstruction): void {
    expect(slot >= 0 && slot < call.slotCount, "slots exist").toBe(true);
    const held = call.slotOf.get(node);
    if (held !== undefined) expect(slot, "all parts of a node write one column").toBe(held);
    else expect([...call.slotOf.values()].includes(slot), "a live column is not overwritten").toBe(false);
    call.slotOf.set(node, slot);
  }

  /** A column is dead once the node and all its wanted readers are done, unless it is an output. */
  #releaseColumns(call: CallModel): void {
    for (const node of [...call.slotOf.keys()]) {
      const { nodes, wanted } = call.graph;
      const isRead = nodes.some(
        ({ inputs }, reader) => wanted[reader] && inputs.includes(node) && !this.isNodeDone(call, reader),
      );
      if (!isRead && !nodes[node]!.isOutput && this.isNodeDone(call, node)) call.slotOf.delete(node);
    }
  }

  #endCall(end: Exclude<Instruction, RunInstruction>): void {
    const call = this.calls[end.call]!;
    expect(call.end, "a call ends once").toBeNull();
    expect(call.outstanding, "a call ends with its last part").toBe(0);
    if (end.kind === "finished") {
      call.graph.nodes.forEach((_, node) => {
        if (call.graph.wanted[node]) expect(this.isNodeDone(call, node)).toBe(true);
      });
    }
    call.end = end;
  }
}
