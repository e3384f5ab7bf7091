import type { NodeSelection } from "../plan/catch_up.ts";
import type { PlanNode } from "../plan/plan.ts";

/** Foretells how long a run takes, and learns from those that were made. Null stands for a run of all nodes. */
export interface LatencyModel {
  /** Wall time of a run in ms. */
  predictMs(selection: NodeSelection | null, firstRow: number): number;
  /** The longest chain of nodes of the run, in ms. */
  criticalPathMs(selection: NodeSelection | null, firstRow: number): number;
  /** A run has ended after so many ms. */
  note(selection: NodeSelection | null, firstRow: number, runMs: number): void;
  /** What has been learned, for a checkpoint. */
  save(): LearnedCosts;
  /** Goes on with what another model of the same nodes has learned. */
  restore(costs: LearnedCosts): void;
}

export interface LearnedCosts {
  /** Of the nodes, then of what comes on top of them in ms. */
  readonly averages: readonly SavedAverage[];
}

/**
 * Averages of what the nodes have cost, by their estimates until they are measured. A run takes no less than its longest
 * chain of nodes, no less than all work shared among the threads, and on top of it what the averages do not know:
 * messages, waking threads, gaps.
 */
export class MeasuredLatency implements LatencyModel {
  readonly #nodes: readonly PlanNode[];
  readonly #threads: number;
  /** Measured ns of each node, summed over all runs. */
  readonly #totalNs: Float64Array;
  readonly #seenNs: Float64Array;
  /** ns of one row of each node. */
  readonly #rowNs: readonly Average[];
  readonly #finishNs: Float64Array;
  readonly #overheadMs = new Average(0);

  constructor(nodes: readonly PlanNode[], threads: number, totalNs: Float64Array) {
    this.#nodes = nodes;
    this.#threads = threads;
    this.#totalNs = totalNs;
    this.#seenNs = Float64Array.from(totalNs);
    this.#rowNs = nodes.map(({ costNs }) => new Average(costNs));
    this.#finishNs = new Float64Array(nodes.length);
  }

  predictMs(selection: NodeSelection | null, firstRow: number): number {
    return this.#makespanMs(selection, firstRow) + this.#overheadMs.value;
  }

  criticalPathMs(selection: NodeSelection | null, firstRow: number): number {
    let longest = 0;
    for (let id = 0; id < this.#nodes.length; id++) {
      const { inputs, partCount } = this.#nodes[id]!;
      let start = 0;
      for (const input of inputs) start = Math.max(start, this.#finishNs[input]!);
      const own = (this.#rowNs[id]!.value * rowsRun(selection, id, firstRow)) / partCount;
      this.#finishNs[id] = start + own;
      if (own > 0) longest = Math.max(longest, this.#finishNs[id]!);
    }
    return longest / 1e6;
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

  save(): LearnedCosts {
    return { averages: [...this.#rowNs, this.#overheadMs].map((average) => average.save()) };
  }

  restore({ averages }: LearnedCosts): void {
    const own = [...this.#rowNs, this.#overheadMs];
    if (averages.length !== own.length) return;
    for (const [index, average] of own.entries()) average.restore(averages[index]!);
  }

  #makespanMs(selection: NodeSelection | null, firstRow: number): number {
    let work = 0;
    for (let id = 0; id < this.#rowNs.length; id++)
      work += this.#rowNs[id]!.value * rowsRun(selection, id, firstRow);
    return Math.max(this.criticalPathMs(selection, firstRow), work / this.#threads / 1e6);
  }
}

/** Share of the newest measurement in an average. */
const NEWEST_SHARE = 0.2;
/** The first measurements, this many, may have been slowed down by code that was not compiled and memory that was not there yet. */
const COLD_COUNT = 8;
/** How fast an average goes back to the least that was measured, by each run that leaves the node out. */
const FORGOTTEN_SHARE = 0.02;

interface SavedAverage {
  readonly value: number;
  readonly least: number;
  readonly count: number;
}

/**
 * An exponentially weighted average of measurements; at first an estimate. What comes cold only ever takes longer: the first
 * measurement is not believed, and of the next ones a lower one is, at once. An average that is too high may keep a node
 * from being run, and so from being measured: it goes down until the node is tried again.
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
    const isBelieved = this.#count === 2 || (this.#count <= COLD_COUNT && measured < this.#value);
    this.#value += (isBelieved ? 1 : NEWEST_SHARE) * (measured - this.#value);
  }

  forget(): void {
    if (this.#least < this.#value) this.#value += FORGOTTEN_SHARE * (this.#least - this.#value);
  }

  save(): SavedAverage {
    return { value: this.#value, least: this.#least, count: this.#count };
  }

  restore({ value, least, count }: SavedAverage): void {
    this.#value = value;
    this.#least = least;
    this.#count = count;
  }
}

/** How many rows a node runs: none, one, or those that it catches up as well. */
function rowsRun(selection: NodeSelection | null, id: number, firstRow: number): number {
  if (selection === null) return 1;
  return selection.isRun[id] === 1 ? firstRow + 1 - selection.startRows[id]! : 0;
}
