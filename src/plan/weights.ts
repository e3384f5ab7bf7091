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
 * @param costsNs cost of one part of each node; nodes are in topological order
 * @param inputs for each node the nodes it reads, all before it
 */
export function criticalPathWeights(
  costsNs: readonly number[],
  inputs: readonly (readonly number[])[],
): number[] {
  const longestAfterNs = costsNs.map(() => 0);
  const weights = [...costsNs];
  for (let node = costsNs.length - 1; node >= 0; node--) {
    weights[node] = (costsNs[node] as number) + (longestAfterNs[node] as number);
    for (const input of inputs[node] as readonly number[]) {
      longestAfterNs[input] = Math.max(longestAfterNs[input] as number, weights[node] as number);
    }
  }
  return weights;
}
