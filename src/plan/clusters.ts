import { type CallTask, type Dag, inputsOf, type Task } from "../dag/dag.ts";
import type { KernelOperator } from "../operator/definition.ts";

/**
 * Largest load of one lanes node, in units of one elementwise operation. Fusing saves a store and a load per value; but
 * a loop that holds too much runs out of instruction cache and of streams that the processor fetches ahead, and leaves
 * fewer nodes to run in parallel. Measured on the 82 formulas of the alpha101 benchmark, 4096 lanes, two threads, ms a row
 * of history and live: load 14 5.8 and 9.0, 26 5.7 and 7.9, 38 5.7 and 8.0, 60 6.1 and 9.6, 120 7.0 and 11.6.
 */
const NODE_LOAD_MAX = 32;

/** What a task adds to the load of its node; rolling tasks for each of their series. */
const TASK_LOADS: Readonly<Record<KernelOperator["axis"], number>> = {
  elementwise: 1,
  rolling: 10,
  recursive: 4,
  cross_section: 0,
  group: 0,
};

export const readsWholeRows = ({ axis }: KernelOperator): boolean =>
  axis === "cross_section" || axis === "group";

/**
 * Puts the tasks of a graph into clusters that become nodes, in topological order; each holds ids of call tasks in
 * the order in which they run.
 *
 * A task that reads whole rows is a cluster of its own. All others may share one: between two such barriers everything
 * happens lane by lane. The number of barriers on the longest path to a task is its level; a cluster holds tasks of
 * one level, so no cluster waits for its own results.
 */
export function formClusters(dag: Dag): number[][] {
  const levels = barrierLevels(dag);
  const calls = dag.tasks.flatMap((task, id) => (task.kind === "call" ? [id] : []));
  const byLevel = Map.groupBy(calls, (id) => levels[id] as number);
  const clusters: number[][] = [];
  for (const level of [...byLevel.keys()].sort((a, b) => a - b)) {
    const ids = byLevel.get(level) as number[];
    clusters.push(
      ...cutByLoad(
        dag,
        ids.filter((id) => !isRowTask(dag.tasks[id] as Task)),
      ),
    );
    for (const id of ids) if (isRowTask(dag.tasks[id] as Task)) clusters.push([id]);
  }
  return clusters;
}

const isRowTask = (task: Task): boolean => task.kind === "call" && readsWholeRows(task.operator);

/** Row tasks belong to the level of their inputs: they come after its lane tasks, and lane tasks that read them after. */
function barrierLevels(dag: Dag): number[] {
  const levels: number[] = [];
  for (const task of dag.tasks) {
    let level = 0;
    for (const input of inputsOf(task)) {
      const crosses = isRowTask(dag.tasks[input] as Task) ? 1 : 0;
      level = Math.max(level, (levels[input] as number) + crosses);
    }
    levels.push(level);
  }
  return levels;
}

function cutByLoad(dag: Dag, ids: readonly number[]): number[][] {
  const clusters: number[][] = [];
  let load = Number.POSITIVE_INFINITY;
  for (const id of ids) {
    const task = dag.tasks[id] as Task;
    const own = task.kind === "call" ? loadOf(task) : 0;
    if (load + own > NODE_LOAD_MAX) {
      clusters.push([]);
      load = 0;
    }
    clusters.at(-1)?.push(id);
    load += own;
  }
  return clusters;
}

function loadOf({ operator, inputs }: CallTask): number {
  const load = TASK_LOADS[operator.axis];
  return operator.axis === "rolling" ? load * inputs.length : load;
}
