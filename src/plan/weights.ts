import type { PlanNode } from "./plan.ts";

/**
 * critical_path_weights: costs of parts `a 1 - b 10, a - c 2` -> weights `a 11, b 10, c 2`; all 0 where it is switched
 * off.
 *
 * The weight of a node is the largest sum of costs on any path from it to a sink, the node included; a split node
 * counts with the cost of one part, since its parts may run in parallel. Running the heaviest ready node first is the
 * classic list-scheduling rule (Graham 1969; Hu 1961).
 *
 * Algorithm: one sweep against the topological order.
 * Hazards: none for the results: weights determine only the order in which ready nodes run.
 * Misses: costs are estimates, or those of earlier blocks; nodes that no wanted factor of a call needs count as well;
 * the heaviest path is not the longest one when the executors are the bottleneck.
 *
 * @param costsNs cost of one part of each node; the nodes that one reads come before it
 * @param weights where they are written; default: a new array
 */
export function criticalPathWeights(
  costsNs: ArrayLike<number>,
  nodes: readonly Pick<PlanNode, "inputs">[],
  weights = new Float64Array(costsNs.length),
): Float64Array {
  weights.fill(0);
  for (let node = costsNs.length - 1; node >= 0; node--) {
    const weight = costsNs[node]! + weights[node]!;
    weights[node] = weight;
    for (const input of nodes[node]!.inputs) if (weight > weights[input]!) weights[input] = weight;
  }
  return weights;
}
