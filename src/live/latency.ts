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
}

/** Share of the newest measurement in an average. */
const NEWEST_SHARE = 0.2;

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
  readonly #rowNs: Float64Array;
  readonly #isMeasured: Uint8Array;
  readonly #finishNs: Float64Array;
  #overheadMs: number | null = null;

  constructor(nodes: readonly PlanNode[], threads: number, totalNs: Float64Array) {
    this.#nodes = nodes;
    this.#threads = threads;
    this.#totalNs = totalNs;
    this.#seenNs = Float64Array.from(totalNs);
    this.#rowNs = Float64Array.from(nodes, ({ costNs }) => costNs);
    this.#isMeasured = new Uint8Array(nodes.length);
    this.#finishNs = new Float64Array(nodes.length);
  }

  predictMs(selection: NodeSelection | null, firstRow: number): number {
    return this.#makespanMs(selection, firstRow) + (this.#overheadMs ?? 0);
  }

  criticalPathMs(selection: NodeSelection | null, firstRow: number): number {
    let longest = 0;
    for (let id = 0; id < this.#nodes.length; id++) {
      const { inputs, partCount } = this.#nodes[id]!;
      let start = 0;
      for (const input of inputs) start = Math.max(start, this.#finishNs[input]!);
      const own = (this.#rowNs[id]! * rowsRun(selection, id, firstRow)) / partCount;
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
      if (ns <= 0 || rows === 0) continue;
      const share = this.#isMeasured[id] ? NEWEST_SHARE : 1;
      this.#rowNs[id]! += share * (ns / rows - this.#rowNs[id]!);
      this.#isMeasured[id] = 1;
    }
    const overheadMs = Math.max(0, runMs - this.#makespanMs(selection, firstRow));
    this.#overheadMs ??= overheadMs;
    this.#overheadMs += NEWEST_SHARE * (overheadMs - this.#overheadMs);
  }

  #makespanMs(selection: NodeSelection | null, firstRow: number): number {
    let work = 0;
    for (let id = 0; id < this.#rowNs.length; id++)
      work += this.#rowNs[id]! * rowsRun(selection, id, firstRow);
    return Math.max(this.criticalPathMs(selection, firstRow), work / this.#threads / 1e6);
  }
}

/** How many rows a node runs: none, one, or those that it catches up as well. */
function rowsRun(selection: NodeSelection | null, id: number, firstRow: number): number {
  if (selection === null) return 1;
  return selection.isRun[id] === 1 ? firstRow + 1 - selection.startRows[id]! : 0;
}
