import { counted } from "../text/counted.ts";
import type { Plan, PlanNode } from "./plan.ts";

/** The nodes of the heaviest path from a source to a sink, in execution order. */
export function criticalPath(nodes: readonly PlanNode[]): PlanNode[] {
  const consumers = nodes.map((): PlanNode[] => []);
  for (const node of nodes) for (const input of node.inputs) consumers[input]?.push(node);
  const path: PlanNode[] = [];
  let next = heaviest(nodes);
  while (next) {
    path.push(next);
    next = heaviest(consumers[next.id] ?? []);
  }
  return path;
}

function heaviest(nodes: readonly PlanNode[]): PlanNode | undefined {
  return nodes.reduce<PlanNode | undefined>(
    (most, node) => (most && most.weight >= node.weight ? most : node),
    undefined,
  );
}

/** What a node does: its operator, or how many tasks it fuses. */
export function nodeText({ tasks }: Plan, node: PlanNode): string {
  if (node.kind === "input") return "input";
  const [only, ...others] = node.tasks;
  return others.length > 0 ? counted(node.tasks.length, "task") : tasks[only!]!.operator;
}
