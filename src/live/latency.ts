import type { PlanNode } from "../plan/plan.ts";
import type { NodeSelection } from "../plan/progress.ts";
import { criticalPathWeights } from "../plan/weights.ts";

/** Predicts how long a run takes and learns from measured runs. A selection of null means a run of all nodes. */
export interface LatencyModel {
  /** Wall time of a run in ms. */
  predictMs(selection: NodeSelection | null, firstRow: number): number;
  /** The longest chain of nodes of the run, in ms. */
  criticalPathMs(selection: NodeSelection | null, firstRow: number): number;
  /** Time of a part of a node in a run. */
  partMs(selection: NodeSelection, node: number, firstRow: number): number;
  /** Learns from a run that took `runMs`. */
  note(selection: NodeSelection | null, firstRow: number, runMs: number): void;
  /** Learns nothing from what has run since. */
  ignore(): void;
}

/**
 * Predicts from averages of the cost of nodes, which start as estimates. A run takes as long as its longest chain of nodes
 * or all work shared among the threads, whichever is more, plus an average overhead: messages, waking threads, gaps.
 */
export class MeasuredLatency implements LatencyModel {
  readonly #nodes: readonly PlanNode[];
  readonly #threads: number;
  /** Measured ns of each node, summed over all runs. */
  readonly #totalNs: Float64Array;
  readonly #seenNs: Float64Array;
  /** ns of one row of each node. */
  readonly #rowNs: readonly Average[];
  /** Of the last run that was asked for: ns of a part of each node, and of the longest path from it on. */
  readonly #partNs: Float64Array<ArrayBuffer>;
  readonly #pathNs: Float64Array<ArrayBuffer>;
  readonly #overheadMs = new Average(0);

  constructor(nodes: readonly PlanNode[], threads: number, totalNs: Float64Array) {
    this.#nodes = nodes;
    this.#threads = threads;
    this.#totalNs = totalNs;
    this.#seenNs = Float64Array.from(totalNs);
    this.#rowNs = nodes.map(({ costNs }) => new Average(costNs));
    this.#partNs = new Float64Array(nodes.length);
    this.#pathNs = new Float64Array(nodes.length);
  }

  predictMs(selection: NodeSelection | null, firstRow: number): number {
    return this.#makespanMs(selection, firstRow) + this.#overheadMs.value;
  }

  criticalPathMs(selection: NodeSelection | null, firstRow: number): number {
    for (let id = 0; id < this.#nodes.length; id++)
      this.#partNs[id] = this.#partNsOf(selection, id, firstRow);
    let longest = 0;
    for (const ns of criticalPathWeights(this.#partNs, this.#nodes, this.#pathNs))
      longest = Math.max(longest, ns);
    return longest / 1e6;
  }

  partMs(selection: NodeSelection, node: number, firstRow: number): number {
    return this.#partNsOf(selection, node, firstRow) / 1e6;
  }

  #partNsOf(selection: NodeSelection | null, node: number, firstRow: number): number {
    return (this.#rowNs[node]!.value * rowsRun(selection, node, firstRow)) / this.#nodes[node]!.partCount;
  }

  note(selection: NodeSelection | null, firstRow: number, runMs: number): void {
    for (let id = 0; id < this.#nodes.length; id++) {
      const ns = this.#totalNs[id]! - this.#seenNs[id]!;
      const rows = rowsRun(selection, id, firstRow);
      this.#seenNs[id] = this.#totalNs[id]!;
      if (ns > 0 && rows > 0) this.#rowNs[id]!.note(ns / rows);
      else if (rows === 0) this.#rowNs[id]!.forget();
    }
    this.#overheadMs.note(Math.max(0, runMs - this.#makespanMs(selection, firstRow)));
  }

  ignore(): void {
    this.#seenNs.set(this.#totalNs);
  }

  #makespanMs(selection: NodeSelection | null, firstRow: number): number {
    let work = 0;
    for (let id = 0; id < this.#rowNs.length; id++)
      work += this.#rowNs[id]!.value * rowsRun(selection, id, firstRow);
    return Math.max(this.criticalPathMs(selection, firstRow), work / this.#threads / 1e6);
  }
}

/** Weight of the newest measurement in an average. */
const NEWEST_SHARE = 0.2;
/** Number of first measurements that code not compiled yet and memory not mapped yet may have slowed down. */
const COLD_COUNT = 8;
/** How far an average moves back to its minimum in a run that leaves the node out. */
const FORGOTTEN_SHARE = 0.02;

/**
 * An exponentially weighted average of measurements that starts as an estimate. Cold runs only take longer: the first
 * measurement is dropped, and a lower one among the next replaces the average. An average that is too high may keep a
 * node from being run and measured: it falls until the node is tried again.
 */
class Average {
  #value: number;
  #least = Number.POSITIVE_INFINITY;
  #count = 0;

  constructor(estimate: number) {
    this.#value = estimate;
  }

  get value(): number {
    return this.#value;
  }

  note(measured: number): void {
    this.#count++;
    if (this.#count === 1) return;
    this.#least = Math.min(this.#least, measured);
    const replaces = this.#count === 2 || (this.#count <= COLD_COUNT && measured < this.#value);
    this.#value += (replaces ? 1 : NEWEST_SHARE) * (measured - this.#value);
  }

  forget(): void {
    if (this.#least < this.#value) this.#value += FORGOTTEN_SHARE * (this.#least - this.#value);
  }
}

/** Number of rows that a node runs: 0, 1, or more if it catches up. */
function rowsRun(selection: NodeSelection | null, id: number, firstRow: number): number {
  if (selection === null) return 1;
  return selection.isRun[id] === 1 ? firstRow + 1 - selection.startRows[id]! : 0;
}
