import type { CallTask, Dag, Task } from "../dag/dag.ts";
import { windowRowsOf } from "../operator/definition.ts";
import { formClusters, readsWholeRows } from "./clusters.ts";
import { ColumnTable } from "./column_table.ts";
import type { Operand, Plan, PlanNode, PlanTask } from "./plan.ts";
import { cellCostNs } from "./task_cost.ts";
import { criticalPathWeights } from "./weights.ts";

/** A part of a node should last about this long: much longer than handing it out, short against a call. */
const PART_TARGET_NS = 60_000;

/** Bringing one value of the panel into a column, in ns. */
const INPUT_COST_NS = 0.3;

export interface PlanShape {
  readonly laneCount: number;
  /** Rows of the largest block. */
  readonly blockRows: number;
  readonly executorCount: number;
}

/**
 * Forms the plan of a graph: clusters of tasks become nodes, values that leave their cluster or that windows look back
 * to get a column, and each node is cut into at most as many parts as there are executors. Cuts choose only who
 * computes a cell, never how: the bits do not depend on them.
 */
export function formPlan(dag: Dag, shape: PlanShape): Plan {
  const { laneCount, blockRows } = shape;
  const clusters = formClusters(dag);
  const clusterOf = new Map(clusters.flatMap((ids, cluster) => ids.map((id) => [id, cluster] as const)));
  const table = new ColumnTable(dag);
  for (const { task } of dag.outputs) table.columnOf(task);
  for (const [id, cluster] of clusterOf) noteReads(dag, id, cluster, clusterOf, table);

  const taskIds = new Map([...clusterOf.keys()].map((id, index) => [id, index] as const));
  const tasks = [...clusterOf.keys()].map((id): PlanTask => {
    const { operator, settings, minPeriods, group, inputs } = dag.tasks[id] as CallTask;
    return {
      operator: operator.name,
      settings,
      minPeriods,
      operands: inputs.map((input) => operandOf(dag, input, taskIds, table)),
      group: group === null ? null : table.groupColumn(group),
      column: table.knownColumn(id),
    };
  });
  const { columns, rowBytes, columnBytes } = table.layOut(taskIds, laneCount, blockRows);
  const outputs = dag.outputs.map(({ name, task }) => ({ name, column: table.columnOf(task) }));
  const nodes = formNodes(dag, clusters, clusterOf, table, shape, outputs);
  return { laneCount, blockRows, rowBytes, tasks, columns, columnBytes, nodes, outputs };
}

/** Gives columns to what the task reads from memory, with as many rows as it looks back. */
function noteReads(
  dag: Dag,
  id: number,
  cluster: number,
  clusterOf: ReadonlyMap<number, number>,
  table: ColumnTable,
): void {
  const { operator, settings, inputs, group } = dag.tasks[id] as CallTask;
  if (group !== null) table.groupColumn(group);
  const isRolling = operator.axis === "rolling";
  // One row more than the window: running sums subtract the value that has just left it.
  const historyRows = isRolling ? windowRowsOf(operator, settings) : 0;
  for (const input of inputs) {
    const { kind } = dag.tasks[input] as Task;
    const needsMemory =
      isRolling || readsWholeRows(operator) || (kind !== "number" && clusterOf.get(input) !== cluster);
    if (needsMemory) table.keepRows(input, historyRows);
  }
}

function operandOf(dag: Dag, id: number, taskIds: ReadonlyMap<number, number>, table: ColumnTable): Operand {
  const task = taskIds.get(id);
  if (task !== undefined) return { kind: "task", task };
  const column = table.knownColumn(id);
  if (column !== null) return { kind: "column", column };
  return { kind: "number", value: (dag.tasks[id] as { value: number }).value };
}

/** A node before it is weighed and cut. */
type NodeDraft = Omit<PlanNode, "id" | "outputs" | "partCount" | "weight">;

/** Node 0 brings the panel's rows; node c + 1 is cluster c. */
function formNodes(
  dag: Dag,
  clusters: readonly number[][],
  clusterOf: ReadonlyMap<number, number>,
  table: ColumnTable,
  { laneCount, blockRows, executorCount }: PlanShape,
  outputs: Plan["outputs"],
): PlanNode[] {
  const cells = laneCount * blockRows;
  const drafts = [draftInput(table, cells)];
  let firstTask = 0;
  for (const ids of clusters) {
    const inputs = nodesRead(dag, ids, clusterOf, table);
    drafts.push(draftCluster(dag, ids, firstTask, inputs, table, cells));
    firstTask += ids.length;
  }
  const weights = criticalPathWeights(
    drafts.map((draft) => draft.costNs),
    drafts.map((draft) => draft.inputs),
  );
  return drafts.map((draft, id): PlanNode => {
    const partCountMax = Math.min(executorCount, draft.partAxis === "lanes" ? laneCount : blockRows);
    const partCount = Math.max(1, Math.min(partCountMax, Math.ceil(draft.costNs / PART_TARGET_NS)));
    const own = new Set(draft.columns);
    return {
      ...draft,
      id,
      outputs: outputs.flatMap(({ column }, index) => (own.has(column) ? [index] : [])),
      partCount,
      weight: weights[id] as number,
    };
  });
}

/** Ids of the nodes whose columns a cluster reads, ascending. */
function nodesRead(
  dag: Dag,
  ids: readonly number[],
  clusterOf: ReadonlyMap<number, number>,
  table: ColumnTable,
): number[] {
  const own = clusterOf.get(ids[0] as number);
  const read = new Set<number>();
  for (const id of ids) {
    const { inputs, group } = dag.tasks[id] as CallTask;
    if (group !== null) read.add(0);
    for (const input of inputs) {
      const source = clusterOf.get(input);
      if (source !== undefined && source !== own) read.add(source + 1);
      if (source === undefined && table.knownColumn(input) !== null) read.add(0);
    }
  }
  return [...read].sort((a, b) => a - b);
}

function draftInput(table: ColumnTable, cells: number): NodeDraft {
  const columns = table.inputColumns();
  const costNs = INPUT_COST_NS * columns.length * cells;
  return { kind: "input", tasks: [], columns, inputs: [], partAxis: "rows", costNs };
}

function draftCluster(
  dag: Dag,
  ids: readonly number[],
  firstTask: number,
  inputs: readonly number[],
  table: ColumnTable,
  cells: number,
): NodeDraft {
  const calls = ids.map((id) => dag.tasks[id] as CallTask);
  const kind = readsWholeRows((calls[0] as CallTask).operator) ? "rows" : "lanes";
  return {
    kind,
    tasks: ids.map((_, index) => firstTask + index),
    columns: ids.flatMap((id) => table.knownColumn(id) ?? []),
    inputs,
    partAxis: kind,
    costNs: calls.reduce((sum, call) => sum + cellCostNs(call), 0) * cells,
  };
}
