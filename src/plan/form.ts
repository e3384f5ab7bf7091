import type { CallTask, Dag } from "../dag/dag.ts";
import type { KernelOperator } from "../operator/definition.ts";
import type { Operand, Plan, PlanNode } from "./plan.ts";
import { criticalPathWeights } from "./weights.ts";

/** A part of a node should last about this long: much longer than handing it out, short against a call. */
const PART_TARGET_NS = 2_000_000;

/** Along which axis a node is cut, given what it reads: rolling and recursive lane by lane, all others row by row. */
const PART_AXES: Readonly<Record<KernelOperator["axis"], "lanes" | "rows">> = {
  elementwise: "rows",
  rolling: "lanes",
  recursive: "lanes",
  cross_section: "rows",
  group: "rows",
};

export interface PanelShape {
  readonly rowCount: number;
  readonly laneCount: number;
}

/**
 * Forms the plan of a graph for one panel shape: one node per operator application, cut into at most as many parts
 * as there are executors. Cuts choose only who computes a cell, never how: the bits do not depend on them.
 */
export function formPlan(dag: Dag, { rowCount, laneCount }: PanelShape, executorCount: number): Plan {
  const nodeOfTask = new Map<number, number>();
  dag.tasks.forEach((task, id) => {
    if (task.kind === "call") nodeOfTask.set(id, nodeOfTask.size);
  });
  const calls = dag.tasks.filter((task) => task.kind === "call");
  const outputs = dag.outputs.map(({ name, task }) => ({ name, operand: operandOf(dag, task, nodeOfTask) }));
  const operands = calls.map((call) => call.inputs.map((input) => operandOf(dag, input, nodeOfTask)));
  const inputs = operands.map(nodesAmong);
  const costsNs = calls.map((call) => costNs(call) * rowCount * laneCount);
  const weights = criticalPathWeights(costsNs, inputs);
  const outputNodes = new Set(nodesAmong(outputs.map(({ operand }) => operand)));
  const nodes = calls.map(({ operator, settings, minPeriods, group }, id): PlanNode => {
    const partAxis = PART_AXES[operator.axis];
    const partCountMax = Math.min(executorCount, partAxis === "lanes" ? laneCount : rowCount);
    const partCount = Math.max(
      1,
      Math.min(partCountMax, Math.ceil((costsNs[id] as number) / PART_TARGET_NS)),
    );
    const task = {
      operator: operator.name,
      settings,
      minPeriods,
      operands: operands[id] as Operand[],
      group,
    };
    const weight = weights[id] as number;
    const isOutput = outputNodes.has(id);
    return {
      id,
      task,
      inputs: inputs[id] as number[],
      partAxis,
      partCount,
      costNs: costsNs[id] as number,
      weight,
      isOutput,
    };
  });
  return { rowCount, laneCount, nodes, outputs };
}

function operandOf(dag: Dag, id: number, nodeOfTask: ReadonlyMap<number, number>): Operand {
  const task = dag.tasks[id];
  const node = nodeOfTask.get(id);
  if (node !== undefined) return { kind: "node", node };
  if (task?.kind === "number") return { kind: "number", value: task.value };
  if (task?.kind === "param") return { kind: "param", name: task.name };
  return { kind: "field", name: (task as { name: string }).name };
}

function nodesAmong(operands: readonly Operand[]): number[] {
  const nodes = operands.flatMap((operand) => (operand.kind === "node" ? [operand.node] : []));
  return [...new Set(nodes)].sort((a, b) => a - b);
}

function costNs({ operator, settings }: CallTask): number {
  return operator.costNs(operator.axis === "rolling" ? operator.windowRows(settings) : 1);
}

/** For each node of the plan 1 if one of the wanted outputs depends on it: one sweep against the order. */
export function wantedNodes(plan: Plan, isOutputWanted: readonly boolean[]): Uint8Array {
  const wanted = new Uint8Array(plan.nodes.length);
  plan.outputs.forEach(({ operand }, i) => {
    if (isOutputWanted[i] && operand.kind === "node") wanted[operand.node] = 1;
  });
  for (let node = plan.nodes.length - 1; node >= 0; node--) {
    if (wanted[node]) for (const input of (plan.nodes[node] as PlanNode).inputs) wanted[input] = 1;
  }
  return wanted;
}
