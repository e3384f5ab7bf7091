/** Properties of the ready nodes of a run, by node id. */
export interface ReadyFacts {
  weightOf(node: number): number;
  /** Columns without further readers once the node is done, as of when it became ready. */
  releasesOf(node: number): number;
  /** Number of nodes that became ready before it. */
  sequenceOf(node: number): number;
}

/** Negative if ready node `a` goes before `b`. */
export type ReadyOrder = (a: number, b: number, facts: ReadyFacts) => number;

/**
 * Heaviest first, so that the critical path never waits. Of equals the node that releases more columns, then the most
 * recently ready one, whose inputs are still in caches.
 */
export const criticalPathFirst: ReadyOrder = (a, b, facts) =>
  order(facts.weightOf(b), facts.weightOf(a)) ||
  facts.releasesOf(b) - facts.releasesOf(a) ||
  facts.sequenceOf(b) - facts.sequenceOf(a);

/** The sign of `a - b` for finite numbers. Not the difference: V8 allocates an object for a returned double. */
export function order(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
