import type { PlanNode } from "./plan.ts";

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
