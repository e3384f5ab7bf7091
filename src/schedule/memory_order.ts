import type { ScheduledNode } from "./events.ts";
import { WantedGraph } from "./wanted_graph.ts";

/** An order of execution that keeps few columns alive, one node after the other. */
export interface MemoryOrder {
  /** The wanted nodes, inputs before consumers. */
  readonly order: Int32Array;
  /** Most columns alive at any moment of that order: with so many slots a call is certain to finish. */
  readonly slotsNeeded: number;
  /** The node at which so many are alive. */
  readonly fullestNode: number;
}

/**
 * Column slots with which a call is certain to finish: fewer may not do, more let more nodes run at once.
 * O((nodes + edges) log inputs).
 */
export function slotsNeeded(nodes: readonly ScheduledNode[], wanted: Uint8Array): number {
  return memoryOrder(new WantedGraph(nodes, wanted)).slotsNeeded;
}

/**
 * Depth first from the sinks, at each node the input that needs most columns first (Sethi and Ullman 1970, exact
 * for trees, a good guess where results are shared).
 *
 * @throws Error if the graph has a cycle.
 */
export function memoryOrder(graph: WantedGraph): MemoryOrder {
  const needs = columnNeeds(graph);
  const order = depthFirst(graph, needs);
  return { order, ...peakColumns(graph, order) };
}

/** Columns alive while a node and all below it are computed, as if no result were shared. */
function columnNeeds(graph: WantedGraph): Int32Array {
  const needs = new Int32Array(graph.nodes.length);
  for (const node of topologicalOrder(graph)) {
    const below = graph.inputsOf(node).map((input) => needs[input]!);
    below.sort((a, b) => b - a);
    needs[node] = below.reduce((most, need, held) => Math.max(most, need + held), below.length + 1);
  }
  return needs;
}

function topologicalOrder(graph: WantedGraph): Int32Array {
  const waits = Int32Array.from(graph.nodes, (node) => node.inputs.length);
  const order = new Int32Array(graph.wantedCount);
  let count = 0;
  for (let id = 0; id < waits.length; id++) if (graph.isWanted(id) && waits[id] === 0) order[count++] = id;
  for (let next = 0; next < count; next++) {
    for (const consumer of graph.consumersOf(order[next]!)) {
      if (--waits[consumer]! === 0) order[count++] = consumer;
    }
  }
  if (count < order.length) throw new Error("a graph to be scheduled has a cycle");
  return order;
}

function depthFirst(graph: WantedGraph, needs: Int32Array): Int32Array {
  // A stack pops the last entry: the node to visit first is pushed last.
  const visitLast = (a: number, b: number) =>
    needs[a]! - needs[b]! || graph.nodes[a]!.weight - graph.nodes[b]!.weight || b - a;
  const stack: number[] = [];
  for (let id = 0; id < graph.nodes.length; id++) {
    if (graph.isWanted(id) && graph.consumerCount(id) === 0) stack.push(id);
  }
  stack.sort(visitLast);
  const order = new Int32Array(graph.wantedCount);
  const isOpen = new Uint8Array(graph.nodes.length);
  const isDone = new Uint8Array(graph.nodes.length);
  let count = 0;
  while (stack.length > 0) {
    const node = stack.at(-1)!;
    if (isOpen[node]) {
      stack.pop();
      if (!isDone[node]) order[count++] = node;
      isDone[node] = 1;
    } else {
      isOpen[node] = 1;
      const unseen = graph.inputsOf(node).filter((input) => !isOpen[input]);
      for (const input of unseen.sort(visitLast)) stack.push(input);
    }
  }
  return order;
}

function peakColumns(graph: WantedGraph, order: Int32Array): Omit<MemoryOrder, "order"> {
  const readersLeft = Int32Array.from(graph.nodes, (_, id) => graph.consumerCount(id));
  const isFree = (node: number) => readersLeft[node] === 0 && !graph.nodes[node]!.isOutput;
  let alive = 0;
  let slotsNeeded = 0;
  let fullestNode = -1;
  for (const node of order) {
    if (++alive > slotsNeeded) {
      slotsNeeded = alive;
      fullestNode = node;
    }
    for (const input of graph.inputsOf(node)) {
      readersLeft[input]!--;
      if (isFree(input)) alive--;
    }
    if (isFree(node)) alive--;
  }
  return { slotsNeeded, fullestNode };
}
