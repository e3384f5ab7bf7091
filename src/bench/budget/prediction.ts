import type { PlanNode } from "../../plan/plan.ts";

/** Share of the newest call in the averages: some five calls decide, not the last one. */
const NEWEST_SHARE = 0.2;

type Node = Pick<PlanNode, "inputs" | "partCount">;

/**
 * Tells how long the next call of a plan will take. A call takes at least max(critical path, work / threads); what it
 * takes beyond that, handing out work and waiting for it, is learned from earlier calls, as the costs of the nodes are:
 * exponentially weighted averages.
 */
export class CallPrediction {
  readonly #nodes: readonly Node[];
  readonly #threads: number;
  readonly #costNs: Float64Array;
  #overheadMs = 0;
  #isMeasured = false;

  /** Nodes in topological order. */
  constructor(nodes: readonly Node[], threads: number) {
    this.#nodes = nodes;
    this.#threads = threads;
    this.#costNs = new Float64Array(nodes.length);
  }

  /** Wall time of the next call in ms; null before the first one was measured. */
  get nextMs(): number | null {
    return this.#isMeasured ? this.#boundMs(this.#costNs) + this.#overheadMs : null;
  }

  /** Learns from a call: measured ns of every node and wall time of the whole. */
  learn(nodeNs: Float64Array, wallMs: number): void {
    const share = this.#isMeasured ? NEWEST_SHARE : 1;
    for (let node = 0; node < nodeNs.length; node++)
      this.#costNs[node]! += share * (nodeNs[node]! - this.#costNs[node]!);
    this.#overheadMs += share * (wallMs - this.#boundMs(nodeNs) - this.#overheadMs);
    this.#isMeasured = true;
  }

  /** What no schedule beats, if parts of a node are equal and no more of them run than there are threads. */
  #boundMs(nodeNs: Float64Array): number {
    const ends = new Float64Array(nodeNs.length);
    let workNs = 0;
    let pathNs = 0;
    for (const [node, { inputs, partCount }] of this.#nodes.entries()) {
      let start = 0;
      for (const input of inputs) start = Math.max(start, ends[input]!);
      ends[node] = start + nodeNs[node]! / Math.min(partCount, this.#threads);
      workNs += nodeNs[node]!;
      pathNs = Math.max(pathNs, ends[node]!);
    }
    return Math.max(pathNs, workNs / this.#threads) / 1e6;
  }
}

/** How far predictions were from what came. */
export interface PredictionErrors {
  /** Mean of |predicted - actual| / actual. */
  readonly meanAbsolutePercent: number;
  /** Sum of predicted by sum of actual, less one: above 0 the predictions were too long. */
  readonly biasPercent: number;
}

export function predictionErrors(
  predictedMs: readonly number[],
  actualMs: readonly number[],
): PredictionErrors {
  let [absolute, predicted, actual] = [0, 0, 0];
  for (const [call, ms] of actualMs.entries()) {
    absolute += Math.abs(predictedMs[call]! - ms) / ms;
    predicted += predictedMs[call]!;
    actual += ms;
  }
  return {
    meanAbsolutePercent: (100 * absolute) / actualMs.length,
    biasPercent: 100 * (predicted / actual - 1),
  };
}
