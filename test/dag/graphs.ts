import { builtInRegistry } from "../../operators/index.ts";
import { compile, finalDag } from "../../src/compile.ts";
import type { CallTask, Dag } from "../../src/dag/dag.ts";
import { printDag } from "../../src/dag/print.ts";

/** The graph that is evaluated for a text, without the named passes. */
export function dagOf(text: string, ...disabledPasses: string[]): Dag {
  return finalDag(compile(text, { disabledPasses }));
}

/** That graph as text. */
export function printed(text: string, ...disabledPasses: string[]): string {
  return printDag(dagOf(text, ...disabledPasses));
}

/** Number of tasks of each operator or kind. */
export function countTasks(text: string, ...disabledPasses: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const task of dagOf(text, ...disabledPasses).tasks) {
    const name = task.kind === "call" ? task.operator.name : task.kind;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** A task that applies a built-in operator. */
export function call(name: string, inputs: number[], rest: Partial<CallTask> = {}): CallTask {
  const operator = builtInRegistry.kernel(name);
  return { kind: "call", operator, inputs, group: null, settings: {}, minPeriods: null, ...rest };
}
