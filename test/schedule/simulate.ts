import type { Instruction, RunInstruction, SchedulerEvent } from "../../src/schedule/events.ts";
import { Scheduler } from "../../src/schedule/scheduler.ts";
import type { DrawnGraph } from "./drawn_graph.ts";

export interface Simulation {
  /** Names of the nodes (`name` or `name/part`) in the order in which they started. */
  readonly started: readonly string[];
  /** Time at which the last part ended, in units of cost. */
  readonly makespan: number;
  readonly ends: readonly Instruction[];
}

interface Executor {
  readonly queue: RunInstruction[];
  running: RunInstruction | null;
  freeAt: number;
}

/** Runs each graph once on simulated executors that take their queue in weight order; costs pass exactly, messages cost nothing. */
export function simulate(
  graphs: readonly DrawnGraph[],
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
  let now = 0;

  const apply = (events: readonly SchedulerEvent[]) => {
    for (const instruction of scheduler.handleAll(events)) {
      if (instruction.kind !== "run") ends.push(instruction);
      else executors[instruction.executor]!.queue.push(instruction);
    }
    for (const executor of executors) startNext(executor);
  };
  const startNext = (executor: Executor) => {
    if (executor.running || executor.queue.length === 0) return;
    const weightOf = (run: RunInstruction) => graphs[run.plan]!.nodes[run.node]!.weight;
    executor.queue.sort((a, b) => a.plan - b.plan || weightOf(b) - weightOf(a));
    const run = executor.queue.shift()!;
    const { names, nodes, costs } = graphs[run.plan]!;
    const { partCount } = nodes[run.node]!;
    started.push(partCount > 1 ? `${names[run.node]}/${run.part}` : names[run.node]!);
    executor.running = run;
    executor.freeAt = now + costs[run.node]! / partCount;
  };

  apply([
    ...executors.map((_, executor) => ({ kind: "joined" as const, executor })),
    ...graphs.flatMap(({ nodes }, plan) => [
      { kind: "opened" as const, plan, nodes },
      { kind: "submitted" as const, plan },
    ]),
  ]);
  for (;;) {
    const busy = executors.filter((executor) => executor.running);
    if (busy.length === 0) break;
    now = Math.min(...busy.map((executor) => executor.freeAt));
    const events: SchedulerEvent[] = [];
    for (const executor of busy.filter((candidate) => candidate.freeAt === now)) {
      const { plan, node, part } = executor.running!;
      events.push({ kind: "done", executor: executors.indexOf(executor), plan, node, part });
      executor.running = null;
    }
    apply(events);
  }
  return { started, makespan: now, ends };
}
