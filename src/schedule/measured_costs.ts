import { criticalPathWeights } from "../plan/weights.ts";
import type { BlockRun } from "./block_run.ts";
import type { NodeGraph } from "./node_graph.ts";

/** Weight of the newest measurement in a node's average. */
const NEWEST_SHARE = 0.2;

/** Weights are updated every this many blocks, and after blocks 1, 2, 4 ... before that. */
const REWEIGH_BLOCKS = 32;

/**
 * Costs of the nodes of a plan: first estimates, then exponentially weighted averages of measurements. The machine's
 * other load varies a node's cost, so averages over about five blocks count, not the last one.
 */
export class MeasuredCosts {
  /** ns of each whole node for a block. */
  readonly nodeNs: Float64Array;
  readonly #graph: NodeGraph;
  readonly #isMeasured: Uint8Array;
  /** False for plans with weights switched off. */
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

  /** Critical-path weights for the next block; the array is never changed afterwards. */
  get weights(): Float64Array {
    return this.#weights;
  }

  partNs(node: number): number {
    return this.nodeNs[node]! / this.#graph.partCounts[node]!;
  }

  /** Adds the measured ns of each node in a finished run: those of one block where the node caught up. */
  note(run: Pick<BlockRun, "nodeNs" | "blocksRun">): void {
    const { nodeNs } = run;
    for (let node = 0; node < nodeNs.length; node++) {
      if (nodeNs[node] === 0) continue;
      const ns = nodeNs[node]! / run.blocksRun(node);
      const share = this.#isMeasured[node] ? NEWEST_SHARE : 1;
      this.nodeNs[node]! += share * (ns - this.nodeNs[node]!);
      this.#isMeasured[node] = 1;
    }
    this.#blockCount++;
    const isPowerOfTwo = (this.#blockCount & (this.#blockCount - 1)) === 0;
    if (this.#hasWeights && (isPowerOfTwo || this.#blockCount % REWEIGH_BLOCKS === 0))
      this.#weights = criticalPathWeights(
        this.nodeNs.map((_, node) => this.partNs(node)),
        this.#graph.nodes,
      );
  }
}
