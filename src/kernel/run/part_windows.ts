import type { Plan, PlanNode } from "../../plan/plan.ts";
import type { WindowStates } from "../fallback/window_states.ts";
import type { KernelSet } from "../memory/kernel_set.ts";
import { GROUP_BYTES, GROUP_LANES } from "../memory/state_layout.ts";
import { VALUE_BYTES } from "../memory/vectors.ts";
import { type PartRange, TILE_LANES } from "./part_range.ts";

/** A function over lanes and rows of a node. */
export type LaneFunction = (
  firstRow: number,
  rowCount: number,
  laneStart: number,
  laneEnd: number,
  from: number,
  to: number,
  window: number,
) => void;

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
  readonly #rowBytes: number;
  readonly #bytes: Uint8Array;
  readonly #values: Float64Array;
  /** For some nodes what moves their windows on (`NodeContents.rowsOfStates`). */
  readonly #functions: readonly (LaneFunction | undefined)[];

  constructor(
    plan: Plan,
    kernels: KernelSet,
    memory: WebAssembly.Memory,
    states: WindowStates,
    exports: WebAssembly.Exports,
  ) {
    this.#kernels = kernels;
    this.#rowBytes = plan.rowBytes;
    this.#states = states;
    this.#functions = plan.nodes.map(({ id }) => exports[`states${id}`] as LaneFunction | undefined);
    this.#values = new Float64Array(memory.buffer);
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
    const { windowByteOffset, snapshotByteOffset } = this.#kernels.states.get(node.id)!;
    // A thread may be lost at any point: until the copy is complete, its marker must name no row.
    this.#markers[marker] = 0;
    this.#copy(node, range, windowByteOffset, snapshotByteOffset!);
    this.#markers[marker] = next;
  }

  /** False if there is no snapshot of that row. */
  #restore(node: PlanNode, marker: number, range: PartStart): boolean {
    if (!this.#kernels.snapshots || this.#markers[marker + this.#partCount] !== range.rowStart + 1)
      return false;
    const { windowByteOffset, snapshotByteOffset } = this.#kernels.states.get(node.id)!;
    this.#copy(node, range, snapshotByteOffset!, windowByteOffset);
    return true;
  }

  /** Copies the window vectors of a part. */
  #copy(node: PlanNode, range: PartStart, from: number, to: number): void {
    const [first, bytes] = this.#extentOf(node, range);
    this.#bytes.copyWithin(to + first, from + first, from + first + bytes);
  }

  #rebuild(node: PlanNode, range: PartStart): void {
    const advance = this.#functions[node.id];
    const row = range.rowStart - 1;
    if (advance) this.#advanceEmpty(node, range, advance);
    else this.#forCells(node, range, (state, lane) => this.#states.rebuild(state, row, lane));
  }

  /** Visits the lanes of a part, for each state of the node. */
  #forCells(
    { id }: PlanNode,
    { laneStart, laneEnd }: PartStart,
    visit: (state: number, lane: number) => void,
  ) {
    const { firstRecord, records } = this.#kernels.states.get(id)!;
    for (let state = firstRecord; state < firstRecord + records.length; state++)
      for (let lane = laneStart; lane < laneEnd; lane++) visit(state, lane);
  }

  /** Empties the windows of a part and moves them on by as many rows as they look back. */
  #advanceEmpty(node: PlanNode, range: PartStart, advance: LaneFunction): void {
    const { rowStart, laneStart, laneEnd } = range;
    const { rowsOfStates, windowByteOffset } = this.#kernels.states.get(node.id)!;
    const firstRow = Math.max(0, rowStart - rowsOfStates!);
    const states = this.#states;
    this.#empty(node, range);
    if (firstRow === rowStart) return;
    states.beginningWith(firstRow, () => {
      this.#forCells(node, range, (state, lane) => states.chooseFirstBounds(state, rowStart - 1, lane));
      for (let lane = laneStart; lane < laneEnd; lane += TILE_LANES) {
        const end = Math.min(laneEnd, lane + TILE_LANES);
        advance(firstRow, rowStart - firstRow, 8 * lane, 8 * end, 0, 0, windowByteOffset);
      }
    });
  }

  /**
   * Sets the windows and rings of a part to what they are before the first row. Bounds stay: other rows seldom reach them.
   */
  #empty(node: PlanNode, range: PartStart): void {
    const { windows, windowByteOffset, firstRecord, records, rings } = this.#kernels.states.get(node.id)!;
    const bounds = new Set(records.flatMap((_, i) => this.#states.boundVectors(firstRecord + i)));
    const [offset, bytes] = this.#extentOf(node, range);
    const start = windowByteOffset + offset;
    for (let group = start; group < start + bytes; group += windows.length * GROUP_BYTES)
      for (let vector = 0; vector < windows.length; vector++) {
        if (bounds.has(vector)) continue;
        const place = (group + vector * GROUP_BYTES) / VALUE_BYTES;
        this.#values.fill(windows[vector]!, place, place + GROUP_LANES);
      }
    for (const { byteOffset, ringRows, initial } of rings)
      for (let row = 0; row < ringRows; row++) {
        const place = (byteOffset + row * this.#rowBytes) / VALUE_BYTES;
        this.#values.fill(initial, place + range.laneStart, place + range.laneEnd);
      }
  }

  /** Offset of a part's lanes in the window vectors of its node, and their bytes. */
  #extentOf({ id }: PlanNode, { laneStart, laneEnd }: PartStart): readonly [number, number] {
    const groupBytes = this.#kernels.states.get(id)!.windows.length * GROUP_BYTES;
    const first = Math.floor(laneStart / GROUP_LANES) * groupBytes;
    return [first, Math.ceil(laneEnd / GROUP_LANES) * groupBytes - first];
  }
}
