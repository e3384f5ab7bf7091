import { isAlways } from "../ast/condition.ts";
import { type CallTask, type Dag, isIn, type Task } from "../dag/dag.ts";
import { readsWholeRows, windowRowsOf } from "../operator/definition.ts";
import { ColumnTable } from "./column_table.ts";
import type { CostModel } from "./cost_model.ts";
import { mergeChains } from "./merge_chains.ts";
import type { PlanPass } from "./passes.ts";
import type { Operand, Plan, PlanNode, PlanTask } from "./plan.ts";
import { ALL_ROWS, Retention } from "./retention.ts";
import { splitNodes } from "./split_nodes.ts";
import { COLUMN_COST_NS, cellCostNs } from "./task_cost.ts";
import { criticalPathWeights } from "./weights.ts";

/** Cost of copying one value of the panel into a column, in ns. */
const INPUT_COST_NS = 0.3;

/** How a plan is formed, whatever the size of its blocks. */
export interface DraftShape {
  readonly laneCount: number;
  /** `Plan.keptBlocks`. Default 1. */
  readonly keptBlocks?: number | undefined;
  readonly executorCount: number;
  /** Names of passes to leave out; changes no bit of the results. */
  readonly disabledPasses?: ReadonlySet<string> | undefined;
  readonly costs?: CostModel;
  /** Runs may skip rows of nodes for good although a condition that always holds needs them. Default false. */
  readonly skipsRows?: boolean | undefined;
}

export interface PlanShape extends DraftShape {
  /** Rows of the largest block. */
  readonly blockRows: number;
}

/** What the plan of a graph is for blocks of any size. */
export interface PlanDraft {
  /** Bytes of one row of all columns. */
  readonly rowBytes: number;
  /** `Plan.columnBytes`. @param blockRows rows of the largest block */
  columnBytes(blockRows: number): number;
  plan(blockRows: number): Plan;
}

/** The plan of a graph for one size of blocks: see `draftPlan`. */
export function formPlan(dag: Dag, shape: PlanShape): Plan {
  return draftPlan(dag, shape).plan(shape.blockRows);
}

/**
 * Drafts the plan of a graph: clusters of tasks become nodes; values that leave their cluster, or that windows look back
 * to, get a column. The size of blocks then gives each column its rows, and splits each node into at most as many parts
 * as there are executors. Splitting determines only who computes a cell, never how: the bits do not depend on it.
 */
export function draftPlan(dag: Dag, shape: DraftShape): PlanDraft {
  const { laneCount, keptBlocks = 1 } = shape;
  const clusters = mergeChains(dag, isOn("merge_chains", shape));
  const clusterOf = new Map(clusters.flatMap((ids, cluster) => ids.map((id) => [id, cluster] as const)));
  const table = new ColumnTable(dag);
  for (const { task } of dag.outputs) table.columnOf(task);
  for (const [id, cluster] of clusterOf) noteReads(dag, id, cluster, clusterOf, table);
  // Row tasks write whole rows to memory, even where passes are left out.
  for (const id of clusterOf.keys())
    if (readsWholeRows((dag.tasks[id] as CallTask).operator)) table.columnOf(id);

  const taskIds = new Map([...clusterOf.keys()].map((id, index) => [id, index] as const));
  const tasks = [...clusterOf.keys()].map((id): PlanTask => {
    const { operator, settings, minPeriods, group, inputs, fingerprints = [] } = dag.tasks[id] as CallTask;
    return {
      operator: operator.name,
      settings,
      minPeriods,
      operands: inputs.map((input) => operandOf(dag, input, taskIds, table)),
      group: group === null ? null : table.groupColumn(group),
      column: table.knownColumn(id),
      fingerprints,
    };
  });
  const outputs = dag.outputs.map(({ name, task }) => ({ name, column: table.columnOf(task) }));
  // Node 0 copies the panel's rows; node c + 1 is cluster c.
  const drafts = [draftInput(table)];
  for (const ids of clusters) {
    const inputs = nodesRead(dag, ids, clusterOf, table);
    const tasksOfNode = ids.map((id) => taskIds.get(id)!);
    drafts.push({ ...draftCluster(dag, ids, table, shape.costs), tasks: tasksOfNode, inputs });
  }
  const windowRows = [...clusterOf.keys()].map((id) => {
    const task = dag.tasks[id] as CallTask;
    return task.operator.axis === "recursive" ? ALL_ROWS : historyRowsOf(task);
  });
  const retention = new Retention(
    tasks,
    windowRows,
    drafts,
    drafts.map((draft) => canSkip(draft, dag, shape)),
    new Set(outputs.map(({ column }) => column)),
  );
  const layOut = (blockRows: number) =>
    table.layOut(taskIds, retention.spareRows, laneCount, blockRows * keptBlocks);
  const { columns, rowBytes } = layOut(1);
  return {
    rowBytes: columns.length * rowBytes,
    columnBytes: (blockRows) => layOut(blockRows).columnBytes,
    plan: (blockRows) => {
      const nodes = formNodes(drafts, retention, { ...shape, blockRows }, outputs);
      return { laneCount, blockRows, keptBlocks, tasks, ...layOut(blockRows), nodes, outputs };
    },
  };
}

/** True if runs may skip the node, so that it has to catch up. */
function canSkip({ conditions }: NodeDraft, dag: Dag, { skipsRows = false }: DraftShape): boolean {
  if (conditions === null) return false;
  return skipsRows || !dag.conditions.some((condition, id) => isAlways(condition) && isIn(conditions, id));
}

/** Gives columns to what the task reads from memory, with the rows that it looks back. */
function noteReads(
  dag: Dag,
  id: number,
  cluster: number,
  clusterOf: ReadonlyMap<number, number>,
  table: ColumnTable,
): void {
  const { operator, inputs, group } = dag.tasks[id] as CallTask;
  if (group !== null) table.groupColumn(group);
  const historyRows = historyRowsOf(dag.tasks[id] as CallTask);
  for (const input of inputs) {
    const { kind } = dag.tasks[input] as Task;
    const needsMemory =
      historyRows > 0 || readsWholeRows(operator) || (kind !== "number" && clusterOf.get(input) !== cluster);
    if (needsMemory) table.keepRows(input, historyRows);
  }
}

/**
 * Rows before the current one that the task reads: one more than the window, for sums that subtract the leaving value.
 */
function historyRowsOf({ operator, settings }: CallTask): number {
  return operator.axis === "rolling" ? windowRowsOf(operator, settings) : 0;
}

const isOn = (pass: PlanPass, { disabledPasses }: DraftShape): boolean => disabledPasses?.has(pass) !== true;

function operandOf(dag: Dag, id: number, taskIds: ReadonlyMap<number, number>, table: ColumnTable): Operand {
  const task = taskIds.get(id);
  if (task !== undefined) return { kind: "task", task };
  const column = table.knownColumn(id);
  if (column !== null) return { kind: "column", column };
  return { kind: "number", value: (dag.tasks[id] as { value: number }).value };
}

/** A node before it is weighed and split. */
interface NodeDraft
  extends Pick<PlanNode, "kind" | "tasks" | "columns" | "inputs" | "partAxis" | "conditions"> {
  /** ns of one cell. */
  readonly cellNs: number;
}

function formNodes(
  drafts: readonly NodeDraft[],
  { catchUpRows, replayRows }: Retention,
  shape: PlanShape,
  outputs: Plan["outputs"],
): PlanNode[] {
  const weighed = drafts.map(({ cellNs, ...draft }) => {
    return { ...draft, costNs: cellNs * shape.laneCount * shape.blockRows };
  });
  const partCounts = isOn("split_nodes", shape)
    ? splitNodes(weighed, { ...shape, handOutNs: shape.costs?.handOutNs })
    : drafts.map(() => 1);
  const weights = isOn("critical_path_weights", shape)
    ? criticalPathWeights(
        weighed.map(({ costNs }, id) => costNs / partCounts[id]!),
        weighed,
      )
    : null;
  return weighed.map((draft, id): PlanNode => {
    const own = new Set(draft.columns);
    return {
      ...draft,
      id,
      outputs: outputs.flatMap(({ column }, index) => (own.has(column) ? [index] : [])),
      partCount: partCounts[id]!,
      weight: weights?.[id] ?? 0,
      catchUpRows: catchUpRows[id]!,
      replayRows: replayRows[id]!,
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

function draftInput(table: ColumnTable): NodeDraft {
  const columns = table.inputColumns();
  const cellNs = INPUT_COST_NS * columns.length;
  return { kind: "input", tasks: [], columns, inputs: [], partAxis: "rows", cellNs, conditions: null };
}

function draftCluster(
  dag: Dag,
  ids: readonly number[],
  table: ColumnTable,
  costs: CostModel | undefined,
): Omit<NodeDraft, "tasks" | "inputs"> {
  const calls = ids.map((id) => dag.tasks[id] as CallTask);
  const columns = ids.flatMap((id) => table.knownColumn(id) ?? []);
  const kind = readsWholeRows((calls[0] as CallTask).operator) ? "rows" : "lanes";
  return {
    kind,
    columns,
    partAxis: kind,
    cellNs: calls.reduce((sum, call) => sum + cellCostNs(call, costs), COLUMN_COST_NS * columns.length),
    conditions: dag.conditionSets?.[ids[0] as number] ?? null,
  };
}
