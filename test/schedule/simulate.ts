import type { Instruction, RunInstruction, SchedulerEvent } from "../../src/schedule/events.ts";
import { Scheduler } from "../../src/schedule/scheduler.ts";
import type { DrawnGraph } from "./drawn_graph.ts";

export interface SimulatedCall {
  readonly graph: DrawnGraph;
  readonly wanted?: Uint8Array;
  readonly slotCount?: number;
}

export interface Simulation {
  /** Names of the nodes (`name` or `name/part`) in the order in which they started. */
  readonly started: readonly string[];
  /** Time at which the last part ended, in units of cost. */
  readonly makespan: number;
  /** Slots that were ever used. */
  readonly slotsUsed: number;
  readonly ends: readonly Instruction[];
}

interface Executor {
  readonly queue: RunInstruction[];
  running: RunInstruction | null;
  freeAt: number;
}

/** Runs calls on simulated executors that take their queue in weight order; costs pass exactly, messages cost nothing. */
export function simulate(
  calls: readonly SimulatedCall[],
  executorCount: number,
  queueParts?: number,
): Simulation {
  const scheduler = new Scheduler(queueParts);
  const executors: Executor[] = Array.from({ length: executorCount }, () => ({
    queue: [],
    running: null,
    freeAt: 0,
  }));
  const started: string[] = [];
  const ends: Instruction[] = [];
  const slots = new Set<number>();
  let now = 0;

  const apply = (events: readonly SchedulerEvent[]) => {
    for (const instruction of scheduler.handleAll(events)) {
      if (instruction.kind !== "run") ends.push(instruction);
      else {
        slots.add(instruction.slot);
        executors[instruction.executor]!.queue.push(instruction);
      }
    }
    for (const executor of executors) startNext(executor);
  };
  const startNext = (executor: Executor) => {
    if (executor.running || executor.queue.length === 0) return;
    const weightOf = (run: RunInstruction) => calls[run.call]!.graph.nodes[run.node]!.weight;
    executor.queue.sort((a, b) => a.call - b.call || weightOf(b) - weightOf(a));
    const run = executor.queue.shift()!;
    const { names, nodes, costs } = calls[run.call]!.graph;
    const { partCount } = nodes[run.node]!;
    started.push(partCount > 1 ? `${names[run.node]}/${run.part}` : names[run.node]!);
    executor.running = run;
    executor.freeAt = now + costs[run.node]! / partCount;
  };

  apply([
    ...executors.map((_, executor) => ({ kind: "joined" as const, executor })),
    ...calls.map(({ graph, wanted, slotCount }, call) => ({
      kind: "submitted" as const,
      call,
      nodes: graph.nodes,
      wanted: wanted ?? graph.wanted(),
      slotCount: slotCount ?? graph.nodes.length,
    })),
  ]);
  for (;;) {
    const busy = executors.filter((executor) => executor.running);
    if (busy.length === 0) break;
    now = Math.min(...busy.map((executor) => executor.freeAt));
    const events: SchedulerEvent[] = [];
    for (const executor of busy.filter((candidate) => candidate.freeAt === now)) {
      const { call, node, part } = executor.running!;
      events.push({ kind: "done", executor: executors.indexOf(executor), call, node, part });
      executor.running = null;
    }
    apply(events);
  }
  return { started, makespan: now, slotsUsed: slots.size, ends };
}
