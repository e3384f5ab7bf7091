import { criticalPathFirst, type ReadyOrder } from "../../src/schedule/ready_order.ts";

export const firstInFirstOut: ReadyOrder = (a, b, facts) => facts.sequenceOf(a) - facts.sequenceOf(b);

const lastInFirstOut: ReadyOrder = (a, b, facts) => facts.sequenceOf(b) - facts.sequenceOf(a);

/** Any order, but the same one every time. */
function randomOrder(seed: number): ReadyOrder {
  const rank = (node: number, sequence: number) => {
    let mixed = Math.imul(node ^ Math.imul(sequence, 0x9e3779b1) ^ seed, 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return (mixed ^ (mixed >>> 16)) >>> 0;
  };
  return (a, b, facts) => rank(a, facts.sequenceOf(a)) - rank(b, facts.sequenceOf(b));
}

/** A way to choose among ready nodes. */
export interface Policy {
  readonly name: string;
  readonly order: (seed: number) => ReadyOrder;
  /** If not, executors do not know weights either: they run their queues as these came. */
  readonly hasWeights: boolean;
}

export const POLICIES: readonly Policy[] = [
  { name: "critical-path", order: () => criticalPathFirst, hasWeights: true },
  { name: "fifo", order: () => firstInFirstOut, hasWeights: false },
  { name: "lifo", order: () => lastInFirstOut, hasWeights: false },
  { name: "random", order: randomOrder, hasWeights: false },
];
