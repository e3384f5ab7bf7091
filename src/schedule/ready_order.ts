/** What is known of the ready nodes of a run, by node id. */
export interface ReadyFacts {
  /** Largest sum of costs on any path to a sink. */
  weightOf(node: number): number;
  /** Columns that nobody reads any more once the node is done, as of when it became ready. */
  releasesOf(node: number): number;
  /** How many nodes became ready before it. */
  sequenceOf(node: number): number;
}

/** Negative if ready node `a` goes before `b`. */
export type ReadyOrder = (a: number, b: number, facts: ReadyFacts) => number;

/**
 * Heaviest first: the critical path is never kept waiting. Of equals the node that lets more columns be released, then
 * the most recently ready, whose inputs are in caches still.
 */
export const criticalPathFirst: ReadyOrder = (a, b, facts) =>
  order(facts.weightOf(b), facts.weightOf(a)) ||
  facts.releasesOf(b) - facts.releasesOf(a) ||
  facts.sequenceOf(b) - facts.sequenceOf(a);

/** The sign of `a - b` for numbers that are finite: a difference of doubles that is returned is an object of its own. */
export function order(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
