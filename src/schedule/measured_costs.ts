import type { NodeGraph } from "./node_graph.ts";

/** Share of the newest measurement in a node's average. */
const NEWEST_SHARE = 0.2;

/** Weights follow the averages after so many blocks, and after the first, the second, the fourth ... one. */
const REWEIGH_BLOCKS = 32;

/**
 * What the nodes of a plan cost: estimates at first, then exponentially weighted averages of what was measured. One
 * node's cost varies with the machine's other load, so that averages of some five blocks decide, not the last one.
 */
export class MeasuredCosts {
  /** ns of a whole node for a block. */
  readonly nodeNs: Float64Array;
  readonly #graph: NodeGraph;
  readonly #isMeasured: Uint8Array;
  /** Plans whose weights are switched off keep them so. */
  readonly #hasWeights: boolean;
  #weights: Float64Array;
  #blockCount = 0;

  constructor(graph: NodeGraph) {
    this.#graph = graph;
    this.nodeNs = Float64Array.from(graph.nodes, ({ costNs }) => costNs);
    this.#isMeasured = new Uint8Array(graph.nodes.length);
    this.#weights = Float64Array.from(graph.nodes, ({ weight }) => weight);
    this.#hasWeights = this.#weights.some((weight) => weight > 0);
  }

  /** Critical-path weights for the next block: an array that does not change any more. */
  get weights(): Float64Array {
    return this.#weights;
  }

  /** Estimated ns of one part of the node. */
  partNs(node: number): number {
    return this.nodeNs[node]! / this.#graph.partCounts[node]!;
  }

  /** Takes the measured ns of each node in a finished run; 0 where it did not run. */
  note(nodeNs: Float64Array): void {
    for (let node = 0; node < nodeNs.length; node++) {
      const ns = nodeNs[node]!;
      if (ns === 0) continue;
      const share = this.#isMeasured[node] ? NEWEST_SHARE : 1;
      this.nodeNs[node]! += share * (ns - this.nodeNs[node]!);
      this.#isMeasured[node] = 1;
    }
    this.#blockCount++;
    const isPowerOfTwo = (this.#blockCount & (this.#blockCount - 1)) === 0;
    if (this.#hasWeights && (isPowerOfTwo || this.#blockCount % REWEIGH_BLOCKS === 0))
      this.#weights = this.#graph.criticalPaths(this.nodeNs.map((_, node) => this.partNs(node)));
  }
}
