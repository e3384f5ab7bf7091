import { type CallTask, type ConditionSet, type Dag, inputsOf, type Task } from "../dag/dag.ts";
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
 * merge_chains: `a = x * 2`, `b = a + y`, `c = ts_mean(b, 5)` -> one node whose loop computes all three, a in a register;
 * a node of its own for each where merging is switched off.
 *
 * Algorithm: a task that reads whole rows is a cluster of its own. All others may share one: between two such barriers
 * everything happens lane by lane. The number of barriers on the longest path to a task is its level; a cluster holds
 * tasks of one level that are needed under the same conditions, in topological order, cut where the load of a loop is
 * full. Within a level the tasks that are needed under more conditions come first: what they read is needed under as
 * many at least.
 * Hazards: no cluster may wait for its own results. What a task reads lies at its level or before; of its own level, it
 * is needed under the same conditions and comes first, or under more of them.
 * Misses: values that only clusters of other conditions read are stored though a larger node could keep them in
 * registers; many sets of conditions with a few tasks each give many small nodes. Loads are rough.
 *
 * @returns ids of call tasks in the order in which they run, cluster by cluster, in topological order
 */
export function mergeChains(dag: Dag, isMerging: boolean): number[][] {
  const calls = dag.tasks.flatMap((task, id) => (task.kind === "call" ? [id] : []));
  if (!isMerging) return calls.map((id) => [id]);
  const levels = barrierLevels(dag);
  const byLevel = Map.groupBy(calls, (id) => levels[id] as number);
  const clusters: number[][] = [];
  for (const level of [...byLevel.keys()].sort((a, b) => a - b)) {
    const [rowTasks, laneTasks] = partition(byLevel.get(level) as number[], (id) =>
      isRowTask(dag.tasks[id] as Task),
    );
    for (const ids of byConditions(dag, laneTasks)) clusters.push(...cutByLoad(dag, ids));
    for (const id of rowTasks) clusters.push([id]);
  }
  return clusters;
}

/** The tasks that are needed under each set of conditions, larger sets first. */
function byConditions(dag: Dag, ids: readonly number[]): number[][] {
  const bySet = Map.groupBy(ids, (id) => dag.conditionSets?.[id] ?? null);
  return [...bySet].sort(([a], [b]) => sizeOf(b) - sizeOf(a)).map(([, tasks]) => tasks);
}

function sizeOf(set: ConditionSet | null): number {
  if (set === null) return Number.MAX_SAFE_INTEGER;
  let size = 0;
  for (const word of set) for (let rest = word; rest !== 0; rest &= rest - 1) size++;
  return size;
}

function partition<T>(values: readonly T[], isFirst: (value: T) => boolean): [T[], T[]] {
  return [values.filter(isFirst), values.filter((value) => !isFirst(value))];
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
