import { publishedDag } from "../../src/bench/open_formulas.ts";
import type { Dag } from "../../src/dag/dag.ts";
import { OVERLAPPING_BLOCKS_MAX } from "../../src/execution/shared/block_slots.ts";
import { formPlan } from "../../src/plan/form.ts";
import { keepsRowsUnderWay, type Plan } from "../../src/plan/plan.ts";
import type { SimulatedNode } from "./simulation.ts";

/** The published sets, and all of them as one graph. */
export const REAL_GRAPHS: Readonly<Record<string, readonly string[]>> = {
  alpha101: ["alpha101"],
  alpha158: ["alpha158"],
  gtja191: ["gtja191"],
  published: ["alpha101", "alpha158", "alpha360", "gtja191"],
};

/** Bytes that a core takes from another one's caches in a ns. */
const MOVED_BYTES_PER_NS = 10;

export interface RealPlanShape {
  readonly lanes: number;
  readonly blockRows: number;
  readonly executors: number;
}

/** The nodes of the plan that the engine forms of such a graph, with the plan's own estimates. */
export function realPlan(graph: string, { lanes, blockRows, executors }: RealPlanShape): SimulatedNode[] {
  const dag = dags.get(graph) ?? publishedDag(REAL_GRAPHS[graph]!);
  dags.set(graph, dag);
  // Blocks of one row are those of sessions.
  const keptBlocks = blockRows === 1 ? OVERLAPPING_BLOCKS_MAX : 1;
  return simulatedNodes(formPlan(dag, { laneCount: lanes, blockRows, keptBlocks, executorCount: executors }));
}

/** Compiling is most of the work: once for all numbers of executors. */
const dags = new Map<string, Dag>();

function simulatedNodes(plan: Plan): SimulatedNode[] {
  const { nodes, rowBytes, blockRows } = plan;
  return nodes.map((node) => {
    const { kind, columns, inputs, partCount, costNs, weight } = node;
    return {
      kind,
      inputs,
      partCount,
      costNs,
      weight,
      keepsRows: keepsRowsUnderWay(plan, node, OVERLAPPING_BLOCKS_MAX),
      bytes: columns.length * rowBytes * blockRows,
      moveNs: (columns.length * rowBytes) / partCount / MOVED_BYTES_PER_NS,
    };
  });
}
