import type { PartCosts } from "./part_costs.ts";
import type { SimulatedNode } from "./simulation.ts";

export interface LowerBound {
  /** All work, shared evenly. */
  readonly workNs: number;
  /** The longest chain of parts that wait for each other, over all blocks. */
  readonly pathNs: number;
  /** The larger one: no schedule is shorter. */
  readonly ns: number;
}

export interface BoundShape {
  readonly executors: number;
  readonly blocks: number;
  readonly overlap: number;
}

/**
 * What no schedule beats: max(work / executors, critical path). Of a node that is cut the longest part is on the path.
 * The path goes through all blocks: a node begins one once its inputs have ended it, and once it and, unless it keeps its
 * rows, its readers have ended the block before; and a block begins once all but `overlap - 1` before it have ended.
 */
export function lowerBound(
  nodes: readonly SimulatedNode[],
  costs: PartCosts,
  { executors, blocks, overlap }: BoundShape,
): LowerBound {
  const readers = readersOf(nodes);
  const order = sorted(nodes, readers);
  const blockEnds: number[] = [];
  let before = new Float64Array(nodes.length);
  for (let block = 0; block < blocks; block++) {
    const ends = new Float64Array(nodes.length);
    const begin = blockEnds[block - overlap] ?? 0;
    for (const node of order) {
      let start = Math.max(begin, before[node]!);
      if (!nodes[node]!.keepsRows)
        for (const reader of readers[node]!) start = Math.max(start, before[reader]!);
      for (const input of nodes[node]!.inputs) start = Math.max(start, ends[input]!);
      ends[node] = start + costs.longestPartNs(block, node);
    }
    blockEnds.push(ends.reduce((latest, end) => Math.max(latest, end), 0));
    before = ends;
  }
  const [workNs, pathNs] = [costs.workNs / executors, blockEnds.at(-1) ?? 0];
  return { workNs, pathNs, ns: Math.max(workNs, pathNs) };
}

/** The nodes that read each node. */
export function readersOf(nodes: readonly SimulatedNode[]): number[][] {
  const readers = nodes.map((): number[] => []);
  nodes.forEach(({ inputs }, node) => {
    for (const input of inputs) readers[input]!.push(node);
  });
  return readers;
}

/** All nodes, inputs before their readers. */
function sorted(nodes: readonly SimulatedNode[], readers: readonly (readonly number[])[]): number[] {
  const waits = nodes.map(({ inputs }) => inputs.length);
  const order = nodes.flatMap((_, node) => (waits[node] === 0 ? [node] : []));
  for (const node of order)
    for (const reader of readers[node]!) if (--waits[reader]! === 0) order.push(reader);
  return order;
}
