import type { PlanNode } from "../../src/plan/plan.ts";
import { criticalPathWeights } from "../../src/plan/weights.ts";

/** A drawn graph: for each node, in topological order, its cost and the nodes that it reads. */
export type Drawing = Readonly<Record<string, readonly [costNs: number, ...inputs: string[]]>>;

/** Weight of each node by name. */
export function weightsOf(drawing: Drawing): Record<string, number> {
  const names = Object.keys(drawing);
  const weights = criticalPathWeights(
    names.map((name) => drawing[name]?.[0] as number),
    names.map((name) => ({ inputs: inputsOf(drawing, name) })),
  );
  return Object.fromEntries(names.map((name, id) => [name, weights[id] as number]));
}

/** The nodes of a drawing as a plan has them; `names[id]` is a node's name. */
export function nodesOf(drawing: Drawing): { nodes: PlanNode[]; names: string[] } {
  const weights = weightsOf(drawing);
  const names = Object.keys(drawing);
  const nodes = names.map((name, id): PlanNode => {
    const costNs = drawing[name]?.[0] as number;
    const rest = {
      kind: "lanes",
      tasks: [],
      columns: [],
      outputs: [],
      partAxis: "lanes",
      partCount: 1,
      conditions: null,
      catchUpRows: 0,
      replayRows: 0,
    } as const;
    return { id, ...rest, inputs: inputsOf(drawing, name), costNs, weight: weights[name] as number };
  });
  return { nodes, names };
}

function inputsOf(drawing: Drawing, name: string): number[] {
  const [, ...inputs] = drawing[name] as Drawing[string];
  return inputs.map((input) => Object.keys(drawing).indexOf(input));
}
