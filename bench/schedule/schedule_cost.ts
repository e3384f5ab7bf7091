import { threadCounts } from "../../src/bench/scaling/thread_counts.ts";
import { ExecutorPool, type PlanData } from "../../src/execution/executor_pool.ts";
import type { KernelSet } from "../../src/kernel/memory/kernel_set.ts";
import { wholeShare } from "../../src/plan/join_plans.ts";
import type { Plan, PlanNode } from "../../src/plan/plan.ts";
import { criticalPathWeights } from "../../src/plan/weights.ts";

/** How the nodes of a measured graph hang together. */
export type Shape = "independent" | "layers" | "chain" | "split chain";

/** Graphs of equal nodes. */
export interface EqualNodes {
  readonly shape: Shape;
  readonly nodes: number;
  readonly nodeUs: number;
}

const GRAPHS: readonly EqualNodes[] = [
  { shape: "independent", nodes: 20_000, nodeUs: 0 },
  { shape: "independent", nodes: 8000, nodeUs: 5 },
  { shape: "independent", nodes: 4000, nodeUs: 20 },
  { shape: "independent", nodes: 1000, nodeUs: 100 },
  { shape: "layers", nodes: 6400, nodeUs: 5 },
  { shape: "layers", nodes: 3200, nodeUs: 20 },
  { shape: "layers", nodes: 1280, nodeUs: 100 },
  { shape: "chain", nodes: 500, nodeUs: 0 },
  { shape: "split chain", nodes: 500, nodeUs: 0 },
  { shape: "split chain", nodes: 500, nodeUs: 40 },
];

/** What scheduling a graph of equal nodes cost. */
export interface ScheduleCost extends EqualNodes {
  readonly threads: number;
  /** Wall time of a run, the median. */
  readonly wallMs: number;
  /** Wall time of all threads per node, less the node's work. */
  readonly overheadUs: number;
  /** The least wall time that the work and the longest path allow, as a share of what it took. */
  readonly efficiency: number;
}

/** Nodes of one layer; each reads two of the layer before. */
const LAYER_NODES = 64;

/** The nodes of a graph, each of them of one part, those of a split chain of two. */
export function equalNodes(shape: Shape, count: number, costNs: number): PlanNode[] {
  const inputs = Array.from({ length: count }, (_, id): number[] => {
    if (shape === "chain" || shape === "split chain") return id === 0 ? [] : [id - 1];
    const layer = Math.floor(id / LAYER_NODES) * LAYER_NODES;
    if (shape === "independent" || layer === 0) return [];
    const first = layer - LAYER_NODES + (id % LAYER_NODES);
    const second = layer - LAYER_NODES + ((id + 7) % LAYER_NODES);
    return [Math.min(first, second), Math.max(first, second)];
  });
  const costs = inputs.map(() => costNs);
  const weights = criticalPathWeights(
    costs,
    inputs.map((reads) => ({ inputs: reads })),
  );
  return inputs.map((reads, id) => ({
    id,
    kind: "lanes",
    tasks: [],
    columns: [],
    outputs: [],
    inputs: reads,
    partAxis: "lanes",
    partCount: shape === "split chain" ? 2 : 1,
    costNs,
    weight: weights[id]!,
    conditions: null,
    catchUpRows: 0,
    replayRows: 0,
  }));
}

/** Runs a graph of busy nodes on real threads, several times, and takes the median run. */
async function measureSchedule(
  pool: ExecutorPool,
  threads: number,
  graph: EqualNodes,
  runs = 9,
): Promise<ScheduleCost> {
  const { shape, nodes: count, nodeUs } = graph;
  const nodes = equalNodes(shape, count, 1000 * nodeUs);
  const open = await pool.open(dataOf(nodes));
  const wallMs: number[] = [];
  for (let run = 0; run <= runs; run++) {
    const started = performance.now();
    await open.run({ rowCount: 1, inputRow: 0, outputRow: 0 });
    // The first run compiles and measures.
    if (run > 0) wallMs.push(performance.now() - started);
  }
  await open.close();
  const median = wallMs.sort((a, b) => a - b)[Math.floor(wallMs.length / 2)]!;
  const workMs = (count * nodeUs) / 1000;
  const pathMs = Math.max(...nodes.map(({ weight }) => weight)) / 1e6;
  return {
    shape,
    threads,
    nodes: count,
    nodeUs,
    wallMs: median,
    overheadUs: (1000 * (median * threads - workMs)) / count,
    efficiency: Math.max(workMs / threads, pathMs) / median,
  };
}

export interface ScheduleOptions {
  readonly spinNs?: number | undefined;
  readonly graphs?: readonly EqualNodes[];
  readonly onProgress: (done: number, total: number) => void;
}

/** Measures every graph with 1, 2, 4 ... threads and with `threads`. */
export async function measureSchedules(
  threads: number,
  { spinNs, graphs = GRAPHS, onProgress }: ScheduleOptions,
): Promise<ScheduleCost[]> {
  const counts = threadCounts(threads);
  const costs: ScheduleCost[] = [];
  for (const count of counts) {
    const runnerUrl = new URL(`./busy_runner${import.meta.url.slice(-3)}`, import.meta.url);
    const spin = spinNs === undefined ? {} : { spinNs };
    const pool = await ExecutorPool.start({ threads: count, runnerUrl, ...spin });
    try {
      for (const graph of graphs) {
        costs.push(await measureSchedule(pool, count, graph));
        onProgress(costs.length, counts.length * graphs.length);
      }
    } finally {
      await pool.close();
    }
  }
  return costs;
}

function dataOf(nodes: readonly PlanNode[]): PlanData {
  const plan: Plan = {
    laneCount: 1,
    blockRows: 1,
    keptBlocks: 1,
    rowBytes: 64,
    tasks: [],
    columns: [],
    columnBytes: 0,
    nodes,
    outputs: [],
  };
  const kernels = { arenaBytes: 0, states: new Map() } as unknown as KernelSet;
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  return {
    plan,
    arenas: [{ ...wholeShare(plan), kernels, memory }],
    operators: [],
    fields: new Map(),
    groups: new Map(),
    params: {},
    results: [],
  };
}
