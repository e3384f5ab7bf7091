import { counted } from "../text/counted.ts";
import type { Plan, PlanNode } from "./plan.ts";

/** The nodes of the heaviest path from a source to a sink, in execution order. */
export function criticalPath(nodes: readonly PlanNode[]): PlanNode[] {
  const path: PlanNode[] = [];
  for (let next = heaviest(nodes); next !== undefined; ) {
    const { id } = next;
    path.push(next);
    next = heaviest(nodes.filter(({ inputs }) => inputs.includes(id)));
  }
  return path;
}

function heaviest([first, ...others]: readonly PlanNode[]): PlanNode | undefined {
  return others.reduce((most, node) => (most!.weight >= node.weight ? most : node), first);
}

/** What a node does: its operator, or how many tasks it fuses. */
export function nodeText({ tasks }: Plan, node: PlanNode): string {
  if (node.kind === "input") return "input";
  const [only, ...others] = node.tasks;
  return others.length > 0 ? counted(node.tasks.length, "task") : tasks[only!]!.operator;
}
