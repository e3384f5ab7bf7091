import { executorSpinNs } from "../../src/execution/shared/rings.ts";

/** What threads, messages between them and the scheduler cost. */
export interface MachineCosts {
  /** ns of the scheduler for an event that it takes, and for a part that it hands out. */
  readonly eventNs: number;
  readonly handOutNs: number;
  /** ns until a thread that sleeps has woken up and sees a record. */
  readonly wakeNs: number;
  /** ns until a thread that runs, or looks for records, sees one. */
  readonly busyNs: number;
  /** How long a thread looks for records before it sleeps, in ns. */
  readonly spinNs: number;
  /** ns from the end of a block to the request for another one, by way of the main thread. */
  readonly mainNs: number;
  /** How many times as long parts take as on one thread: threads share caches, memory and cores. */
  readonly slower: number;
}

/** The ends of what is known of machines. */
export type End = "best" | "worst";
export const ENDS: readonly End[] = ["best", "worst"];

/** Values at numbers of executors, on straight lines between them. */
type Curve = readonly (readonly [executors: number, value: number])[];

/**
 * ns of a node of 0 us, one event and one part, of 20,000 that need nothing of each other: `npm run bench -- schedule` on
 * 16 virtual cores (Intel Xeon, AVX-512) on 2026-11-27, and on two cores.
 */
const NODE_NS: Curve = [
  [2, 500],
  [8, 1100],
  [16, 1700],
];

/** Their share for the part; fitted to the efficiency of 4,000 nodes of 20 us on the same 16 cores. */
const HAND_OUT_SHARE = 0.7;

/**
 * Fitted to live rows of alpha101 on the same 16 cores, 2026-11-27. With 12 of them history takes 1.02 times what these
 * give, with 15 1.04 (bench/experiments.md).
 */
const SLOWER: Curve = [
  [1, 1],
  [2, 1.01],
  [4, 1.07],
  [8, 1.16],
  [12, 1.17],
  [15, 1.44],
  [16, 2.25],
];

/** What 12 of 16 cores had: cores to spare. */
const SLOWER_BEST = 1.17;
/** What 15 of 16 cores had, as many as an engine takes by default. */
const SLOWER_WORST = 1.44;

/** The most that were measured. */
const EXECUTORS_MEASURED = 16;

/** ns of a node beyond that many: of two sockets a line of cache takes twice the time. Not measured. */
const NODE_NS_WORST = 3000;

const WAKE_NS = { best: 20_000, worst: 25_000 } as const satisfies Record<End, number>;

/** Beyond what was measured a machine is somewhere between the ends. */
export function machineCosts(executors: number, end: End = "worst"): MachineCosts {
  const isMeasured = executors <= EXECUTORS_MEASURED;
  const measuredSlower = valueAt(SLOWER, executors);
  const nodeNs = !isMeasured && end === "worst" ? NODE_NS_WORST : valueAt(NODE_NS, executors);
  return {
    eventNs: (1 - HAND_OUT_SHARE) * nodeNs,
    handOutNs: HAND_OUT_SHARE * nodeNs,
    wakeNs: WAKE_NS[end],
    busyNs: 1000,
    spinNs: executorSpinNs(executors, executors + 1),
    mainNs: 20_000,
    slower:
      end === "best" ? Math.min(measuredSlower, SLOWER_BEST) : isMeasured ? measuredSlower : SLOWER_WORST,
  };
}

function valueAt(curve: Curve, executors: number): number {
  const next = curve.findIndex(([count]) => count >= executors);
  if (next < 0) return curve.at(-1)![1];
  const [count, value] = curve[next]!;
  const [before, valueBefore] = curve[Math.max(0, next - 1)]!;
  if (next === 0 || count === executors) return value;
  return valueBefore + ((value - valueBefore) * (executors - before)) / (count - before);
}
