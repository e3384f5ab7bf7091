import { type CallTask, type ConditionSet, type Dag, inputsOf, type Task } from "../dag/dag.ts";
import { type KernelOperator, readsWholeRows } from "../operator/definition.ts";

/**
 * Largest load of one lanes node, in units of one elementwise operation. Fusing saves a store and a load per value, but
 * a loop that holds too much exceeds the instruction cache and the hardware prefetch streams, and leaves fewer nodes to
 * run in parallel. Measured on the 82 formulas of the alpha101 benchmark, 4096 lanes, two threads, ms per row of
 * history and live, medians of three: load 32 5.7 and 7.4, 40 5.7 and 7.2, 48 5.7 and 7.0, 56 5.7 and 7.6, 64 6.0 and
 * 7.7.
 */
const NODE_LOAD_MAX = 48;

/** Cost of a node beside its tasks, in values passed through a column. */
const NODE_COST = 2;

/** Load that a task adds to its node; rolling tasks per series. */
const TASK_LOADS: Readonly<Record<KernelOperator["axis"], number>> = {
  elementwise: 1,
  rolling: 10,
  recursive: 4,
  cross_section: 0,
  group: 0,
};

/**
 * merge_chains: `a = x * 2`, `b = a + y`, `c = ts_mean(b, 5)` -> one node whose loop computes all three, a in a
 * register; one node per task where merging is switched off.
 *
 * Algorithm: a task that reads whole rows is a cluster of its own, a barrier. Between barriers everything is computed
 * lane by lane, and tasks may share a cluster. A task's level is the number of barriers on the longest path to it; a
 * cluster holds tasks of one level that are needed under the same conditions, in topological order, divided such that
 * no loop holds too much and the fewest values pass from one cluster to another. Within a level, tasks needed under
 * more conditions come first: what they read is needed under at least as many.
 * Hazards: no cluster may wait for its own results. What a task reads is at its level or an earlier one; at its own
 * level, it is needed under the same conditions and comes first, or under more of them.
 * Misses: values that only clusters of other conditions read are stored though a larger node could keep them in
 * registers; many sets of conditions with a few tasks each give many small nodes. Loads are rough.
 *
 * @returns ids of call tasks in execution order, cluster by cluster, in topological order
 */
export function mergeChains(dag: Dag, isMerging: boolean): number[][] {
  const calls = dag.tasks.flatMap((task, id) => (task.kind === "call" ? [id] : []));
  if (!isMerging) return calls.map((id) => [id]);
  const levels = barrierLevels(dag);
  const byLevel = Map.groupBy(calls, (id) => levels[id] as number);
  const readers = readersOf(dag);
  const outputs = new Set(dag.outputs.map(({ task }) => task));
  const clusters: number[][] = [];
  for (const level of [...byLevel.keys()].sort((a, b) => a - b)) {
    const { rows = [], lanes = [] } = Object.groupBy(byLevel.get(level)!, (id) =>
      isRowTask(dag.tasks[id] as Task) ? "rows" : "lanes",
    );
    for (const ids of byConditions(dag, lanes)) {
      const lastReaders = lastReadersOf(dag, ids, readers, outputs);
      clusters.push(...cutWhereFewestPass(dag, ids, lastReaders));
    }
    for (const id of rows) clusters.push([id]);
  }
  return clusters;
}

/** The tasks needed under each set of conditions, larger sets first. */
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

/** The tasks that read each task. */
function readersOf(dag: Dag): number[][] {
  const readers = dag.tasks.map((): number[] => []);
  dag.tasks.forEach((task, id) => {
    for (const input of inputsOf(task)) (readers[input] as number[]).push(id);
  });
  return readers;
}

const isRowTask = (task: Task): boolean => task.kind === "call" && readsWholeRows(task.operator);

/**
 * Row tasks have the level of their inputs: they follow its lane tasks, and lane tasks that read them are one level up.
 */
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

/**
 * Divides tasks in topological order into clusters within the load limit, such that the fewest values pass between them
 * that would otherwise need no column.
 */
function cutWhereFewestPass(dag: Dag, ids: readonly number[], lastReaders: readonly number[]): number[][] {
  const loads = ids.map((id) => loadOf(dag.tasks[id] as CallTask));
  // For each boundary the least cost of the tasks before it, and the start of their last cluster.
  const costs = [0];
  const starts = [0];
  for (let end = 1; end <= ids.length; end++) {
    let [leastCost, bestStart] = [Number.POSITIVE_INFINITY, end - 1];
    let [load, passing] = [0, 0];
    for (let start = end - 1; start >= 0; start--) {
      load += loads[start] as number;
      if (load > NODE_LOAD_MAX && start < end - 1) break;
      if ((lastReaders[start] as number) >= end) passing++;
      const cost = (costs[start] as number) + NODE_COST + passing;
      if (cost < leastCost) [leastCost, bestStart] = [cost, start];
    }
    costs.push(leastCost);
    starts.push(bestStart);
  }
  const clusters: number[][] = [];
  for (let end = ids.length; end > 0; end = starts[end] as number) clusters.push(ids.slice(starts[end], end));
  return clusters.reverse();
}

/**
 * For each task the index of its last reader among these tasks; -1 where it has a column anyway: an output, or read by
 * other tasks or a window.
 */
function lastReadersOf(
  dag: Dag,
  ids: readonly number[],
  readers: readonly number[][],
  outputs: ReadonlySet<number>,
): number[] {
  const places = new Map(ids.map((id, place) => [id, place]));
  return ids.map((id) => {
    if (outputs.has(id)) return -1;
    let last = -1;
    for (const reader of readers[id] as number[]) {
      const place = places.get(reader);
      if (place === undefined || (dag.tasks[reader] as CallTask).operator.axis === "rolling") return -1;
      last = Math.max(last, place);
    }
    return last;
  });
}

function loadOf({ operator, inputs }: CallTask): number {
  const load = TASK_LOADS[operator.axis];
  return operator.axis === "rolling" ? load * inputs.length : load;
}
