/**
 * Critical-path weights: the largest sum of costs on any path from a node to a sink, the node included. Running
 * the heaviest ready node first is the classic list-scheduling rule (Graham 1969; Hu 1961).
 *
 * @param costsNs cost of each node; nodes are in topological order
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
