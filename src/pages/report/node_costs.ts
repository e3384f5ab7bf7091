import { numberText } from "../../dag/dag.ts";
import { type StatefulArenas, stateOfNode } from "../../kernel/memory/plan_arena.ts";
import { GROUP_BYTES, GROUP_LANES, type NodeState } from "../../kernel/memory/state_layout.ts";
import type { Operand, Plan, PlanNode } from "../../plan/plan.ts";
import type { NodeData } from "./report_data.ts";

/** Below this depth an expression is an ellipsis: its text could grow without end where parts are shared. */
const DEPTH_MAX = 4;
const CHARACTERS_MAX = 160;

/** What the parts of a node took. */
export interface NodeWork {
  readonly ns: number;
  readonly partCount: number;
}

/** The nodes of a plan with what they took and hold, the one that took most first. */
export function nodeCosts(
  plan: Plan,
  arenas: StatefulArenas,
  work: ReadonlyMap<number, NodeWork>,
  factorNames: readonly string[],
): NodeData[] {
  const factors = factorsOfNodes(plan, factorNames);
  const costs = plan.nodes.map((node, index): NodeData => {
    const { ns, partCount } = work.get(index) ?? { ns: 0, partCount: 0 };
    return {
      text: nodeText(plan, node),
      kind: node.kind,
      taskCount: node.tasks.length,
      ms: ns / 1e6,
      partCount,
      bytes: bytesOf(plan, node, stateOfNode(arenas, index)),
      factors: [...factors[index]!].sort((a, b) => a - b),
    };
  });
  return costs.sort((a, b) => b.ms - a.ms);
}

/** By node, the factors that need it: a node comes before those that read it. */
function factorsOfNodes({ nodes, outputs }: Plan, factorNames: readonly string[]): Set<number>[] {
  const indices = new Map(factorNames.map((name, index) => [name, index]));
  const factors = nodes.map(({ outputs: own }) => new Set(own.map((id) => indices.get(outputs[id]!.name)!)));
  for (const [id, { inputs }] of [...nodes.entries()].reverse())
    for (const input of inputs) for (const factor of factors[id]!) factors[input]!.add(factor);
  return factors;
}

function bytesOf(
  { columns, rowBytes, laneCount }: Plan,
  node: PlanNode,
  state: NodeState | undefined,
): number {
  const rings = node.columns.reduce((sum, column) => sum + columns[column]!.ringRows * rowBytes, 0);
  if (!state) return rings;
  // Recurrences have two generations, and a snapshot is a second copy of the window vectors.
  const vectors =
    2 * state.recurrences.length + state.windows.length * (state.snapshotByteOffset === null ? 1 : 2);
  return rings + vectors * GROUP_BYTES * Math.ceil(laneCount / GROUP_LANES);
}

/** The values that leave the node, as expressions. */
function nodeText(plan: Plan, { kind, tasks, columns }: PlanNode): string {
  const texts =
    kind === "input"
      ? columns.map((column) => columnText(plan, column, 0))
      : tasks
          .filter((task) => plan.tasks[task]!.column !== null)
          .map((task) => operandText(plan, { kind: "task", task }, 0));
  return shortened(texts.join("; "));
}

function operandText(plan: Plan, operand: Operand, depth: number): string {
  if (operand.kind === "number") return numberText(operand.value);
  if (operand.kind === "column") return columnText(plan, operand.column, depth);
  if (depth > DEPTH_MAX) return "…";
  const { operator, settings, operands, group } = plan.tasks[operand.task]!;
  const inputs = operands.map((one) => operandText(plan, one, depth + 1));
  const groups = group === null ? [] : [columnText(plan, group, depth)];
  const named = Object.entries(settings).map(([name, value]) => `${name}=${numberText(value)}`);
  return `${operator}(${[...inputs, ...groups, ...named].join(", ")})`;
}

function columnText(plan: Plan, column: number, depth: number): string {
  const { source } = plan.columns[column]!;
  if (source.kind === "number") return numberText(source.value);
  return source.kind === "task" ? operandText(plan, source, depth) : source.name;
}

function shortened(text: string): string {
  return text.length > CHARACTERS_MAX ? `${text.slice(0, CHARACTERS_MAX - 1)}…` : text;
}
