import { type LowerBound, lowerBound, readersOf } from "./lower_bound.ts";
import { OVERLAP_DEFAULT, partCosts } from "./simulate.ts";
import type { SimulatedNode, SimulatedPart, Simulation, SimulationOptions } from "./simulation.ts";

/** What a schedule is judged by. */
export interface Figures {
  readonly executors: number;
  readonly blocks: number;
  readonly nodes: number;
  readonly parts: number;
  readonly makespanNs: number;
  readonly bound: LowerBound;
  /** Makespan by lower bound. */
  readonly ratio: number;
  /** Largest sum of the columns that are written and not yet read for the last time in their block. */
  readonly peakBytes: number;
  /** Mean wait between queue and start of the tenth of the parts whose nodes weigh most. */
  readonly heavyWaitNs: number;
  /** Parts that wait in a queue, on average over executors and time, and at most. */
  readonly queueMean: number;
  readonly queueMax: number;
  readonly stealsAsked: number;
  readonly stealsTaken: number;
  /** Share of the executors' time in which they run nothing. */
  readonly idleShare: number;
  /** Share of the makespan in which the scheduler works. */
  readonly schedulerShare: number;
}

export function figuresOf(
  nodes: readonly SimulatedNode[],
  options: SimulationOptions,
  simulation: Simulation,
): Figures {
  const { executors, blocks = 1, overlap = OVERLAP_DEFAULT } = options;
  const { parts, makespanNs, schedulerNs, steals, queueMax } = simulation;
  const bound = lowerBound(nodes, partCosts(nodes, options), { executors, blocks, overlap });
  const waitedNs = parts.reduce((sum, { queued, start }) => sum + start - queued, 0);
  return {
    executors,
    blocks,
    nodes: nodes.length,
    parts: parts.length / blocks,
    makespanNs,
    bound,
    ratio: makespanNs / bound.ns,
    peakBytes: peakBytes(nodes, parts),
    heavyWaitNs: heavyWaitNs(nodes, parts),
    queueMean: waitedNs / (makespanNs * executors),
    queueMax,
    stealsAsked: steals.asked,
    stealsTaken: steals.taken,
    idleShare: 1 - parts.reduce((sum, { start, end }) => sum + end - start, 0) / (makespanNs * executors),
    schedulerShare: schedulerNs / makespanNs,
  };
}

/** A node's columns live from its start until all its readers have ended the block. */
export function peakBytes(nodes: readonly SimulatedNode[], parts: readonly SimulatedPart[]): number {
  const readers = readersOf(nodes);
  const spans = spansOf(nodes.length, parts);
  const changes: (readonly [time: number, bytes: number])[] = [];
  for (const { starts, ends } of spans) {
    nodes.forEach(({ bytes }, node) => {
      const last = readers[node]!.reduce((latest, reader) => Math.max(latest, ends[reader]!), ends[node]!);
      changes.push([starts[node]!, bytes], [last, -bytes]);
    });
  }
  // What ends at a time makes room for what begins then.
  changes.sort(([timeA, bytesA], [timeB, bytesB]) => timeA - timeB || bytesA - bytesB);
  let [live, peak] = [0, 0];
  for (const [, bytes] of changes) {
    live += bytes;
    peak = Math.max(peak, live);
  }
  return peak;
}

interface Spans {
  readonly starts: Float64Array;
  readonly ends: Float64Array;
}

/** When each node starts and ends, by block. */
function spansOf(nodeCount: number, parts: readonly SimulatedPart[]): Spans[] {
  const spans: Spans[] = [];
  for (const { block, node, start, end } of parts) {
    spans[block] ??= {
      starts: new Float64Array(nodeCount).fill(Infinity),
      ends: new Float64Array(nodeCount),
    };
    const { starts, ends } = spans[block];
    starts[node] = Math.min(starts[node]!, start);
    ends[node] = Math.max(ends[node]!, end);
  }
  return spans;
}

function heavyWaitNs(nodes: readonly SimulatedNode[], parts: readonly SimulatedPart[]): number {
  const heaviest = [...parts].sort((a, b) => nodes[b.node]!.weight - nodes[a.node]!.weight);
  const tenth = heaviest.slice(0, Math.ceil(parts.length / 10));
  return tenth.reduce((sum, { queued, start }) => sum + start - queued, 0) / tenth.length;
}
