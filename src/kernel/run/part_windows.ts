import type { Plan, PlanNode } from "../../plan/plan.ts";
import type { WindowStates } from "../fallback/window_states.ts";
import type { KernelSet } from "../memory/kernel_set.ts";
import { GROUP_BYTES, GROUP_LANES } from "../memory/state_layout.ts";
import type { PartRange } from "./part_range.ts";

/** The rows and lanes of a part, as far as its window state depends on them. */
type PartStart = Pick<PartRange, "rowStart" | "laneStart" | "laneEnd">;

/**
 * Window state is updated in place. A marker says which block a part has last begun: where it begins there again, or
 * earlier, rows were interrupted or run again, and the state is restored from a snapshot or rebuilt from the columns.
 */
export class PartWindows {
  readonly #kernels: KernelSet;
  readonly #states: WindowStates;
  readonly #markers: Int32Array;
  /** Index of each node's first marker. */
  readonly #firstMarkers: readonly number[];
  /** Distance from a part's start marker to that of its snapshot. */
  readonly #partCount: number;
  readonly #bytes: Uint8Array;

  constructor(plan: Plan, kernels: KernelSet, memory: WebAssembly.Memory, states: WindowStates) {
    this.#kernels = kernels;
    this.#states = states;
    this.#markers = new Int32Array(memory.buffer, kernels.stampByteOffset);
    let markers = 0;
    this.#firstMarkers = plan.nodes.map(({ partCount }) => {
      markers += partCount;
      return markers - partCount;
    });
    this.#partCount = markers;
    this.#bytes = new Uint8Array(memory.buffer);
  }

  /**
   * Brings the state of a part to where it was before its first row, and marks the block.
   *
   * @param isRebuilt rows before the first one may have changed since the state was saved
   */
  begin(node: PlanNode, part: number, range: PartStart, firstBlockRow: number, isRebuilt: boolean): void {
    const marker = this.#firstMarkers[node.id]! + part;
    const isAgain = isRebuilt || this.#markers[marker]! > range.rowStart;
    const isRestored = isAgain && !isRebuilt && this.#restore(node, marker, range);
    if (isAgain && !isRestored) this.#rebuild(node, range);
    // What was saved for this block may be of rows that were replaced since.
    if (!isRestored && this.#kernels.snapshots) this.#markers[marker + this.#partCount] = 0;
    this.#markers[marker] = firstBlockRow + 1;
  }

  /** Saves the state as it is before the first row, unless it was restored from there. */
  takeSnapshot(node: PlanNode, part: number, range: PartStart): void {
    const marker = this.#firstMarkers[node.id]! + part + this.#partCount;
    const next = range.rowStart + 1;
    if (this.#markers[marker] === next) return;
    const [from, to, bytes] = this.#extentOf(node, range);
    // A thread may be lost at any point: until the copy is complete, its marker must name no row.
    this.#markers[marker] = 0;
    this.#bytes.copyWithin(to, from, from + bytes);
    this.#markers[marker] = next;
  }

  /** False if there is no snapshot of that row. */
  #restore(node: PlanNode, marker: number, range: PartStart): boolean {
    if (!this.#kernels.snapshots || this.#markers[marker + this.#partCount] !== range.rowStart + 1)
      return false;
    const [to, from, bytes] = this.#extentOf(node, range);
    this.#bytes.copyWithin(to, from, from + bytes);
    return true;
  }

  #rebuild(node: PlanNode, { rowStart, laneStart, laneEnd }: PartStart): void {
    const [first, end] = this.#kernels.recordRanges.get(node.id)!;
    for (let state = first; state < end; state++)
      for (let lane = laneStart; lane < laneEnd; lane++) this.#states.rebuild(state, rowStart - 1, lane);
  }

  /** Offsets of the window vectors of a part's lanes and of their snapshot, and their bytes. */
  #extentOf({ id }: PlanNode, { laneStart, laneEnd }: PartStart): readonly [number, number, number] {
    const { windows, windowByteOffset, snapshotByteOffset } = this.#kernels.states.get(id)!;
    const groupBytes = windows.length * GROUP_BYTES;
    const first = Math.floor(laneStart / GROUP_LANES) * groupBytes;
    const bytes = Math.ceil(laneEnd / GROUP_LANES) * groupBytes - first;
    return [windowByteOffset + first, snapshotByteOffset! + first, bytes];
  }
}
