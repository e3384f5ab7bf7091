import type { ColumnSource, Operand, Plan, PlanColumn, PlanNode, PlanTask } from "./plan.ts";

/** A plan that is computed in a memory of its own: all of a program, or some of its outputs. */
export interface PlanShare {
  readonly plan: Plan;
  /** For each of its outputs the index among those of the program. */
  readonly outputs: readonly number[];
}

/** Where a share lies in the plan of the whole program. */
export interface PlacedShare extends PlanShare {
  readonly firstNode: number;
  readonly firstTask: number;
}

/** A plan that has one memory. */
export function wholeShare(plan: Plan): PlacedShare {
  return { plan, outputs: plan.outputs.map((_, output) => output), firstNode: 0, firstTask: 0 };
}

/**
 * The shares of a program as one plan, which is scheduled and saved as a whole: nodes, tasks and columns are numbered on
 * from share to share. Its columns lie at their offsets in the memory of their share.
 */
export function joinPlans(shares: readonly PlanShare[]): { plan: Plan; shares: readonly PlacedShare[] } {
  const [first] = shares as readonly [PlanShare];
  if (shares.length === 1) return { plan: first.plan, shares: [wholeShare(first.plan)] };
  const [nodes, tasks, columns]: [PlanNode[], PlanTask[], PlanColumn[]] = [[], [], []];
  const outputs: { name: string; column: number }[] = [];
  let columnBytes = 0;
  const placedShares = shares.map((share): PlacedShare => {
    const { plan } = share;
    const at: Place = { node: nodes.length, task: tasks.length, column: columns.length };
    for (const node of plan.nodes) nodes.push(placedNode(node, at, share.outputs));
    for (const task of plan.tasks) tasks.push(placedTask(task, at));
    for (const column of plan.columns) columns.push({ ...column, source: placed(column.source, at) });
    plan.outputs.forEach(({ name, column }, output) => {
      outputs[share.outputs[output]!] = { name, column: column + at.column };
    });
    columnBytes += plan.columnBytes;
    return { ...share, firstNode: at.node, firstTask: at.task };
  });
  return { plan: { ...first.plan, nodes, tasks, columns, columnBytes, outputs }, shares: placedShares };
}

/** The numbers of a share's first node, task and column. */
interface Place {
  readonly node: number;
  readonly task: number;
  readonly column: number;
}

function placedNode(node: PlanNode, at: Place, outputs: readonly number[]): PlanNode {
  return {
    ...node,
    id: node.id + at.node,
    tasks: node.tasks.map((task) => task + at.task),
    columns: node.columns.map((column) => column + at.column),
    outputs: node.outputs.map((output) => outputs[output]!),
    inputs: node.inputs.map((input) => input + at.node),
  };
}

function placedTask(task: PlanTask, at: Place): PlanTask {
  return {
    ...task,
    operands: task.operands.map((operand) => placed(operand, at)),
    group: task.group === null ? null : task.group + at.column,
    column: task.column === null ? null : task.column + at.column,
  };
}

/** Where a value comes from. */
function placed<From extends Operand | ColumnSource>(from: From, at: Place): From {
  if (from.kind === "task") return { ...from, task: from.task + at.task };
  return from.kind === "column" ? { ...from, column: from.column + at.column } : from;
}
