import type { Ring, StateRows } from "../../operator/window_code.ts";
import { keyPosition, orderKey } from "../emit/packed_keys.ts";
import type { Arena } from "../memory/arena.ts";
import { GROUP_LANES, type NodeState, vectorPosition } from "../memory/state_layout.ts";
import { VALUE_BYTES } from "../memory/vectors.ts";

/** Access to the window state of one node at a time and to the rows of columns, one lane at a time. */
export class NodeStateRows implements StateRows {
  readonly #arena: Arena;
  /** The arena as 32-bit integers. */
  readonly #keys: Int32Array;
  /** Rows before it are null. */
  firstRow = 0;
  #node: NodeState;
  readonly #windows: Float64Array[] = [];

  constructor(arena: Arena, first: NodeState) {
    this.#arena = arena;
    this.#keys = new Int32Array(arena.values.buffer);
    this.#node = first;
  }

  /** Selects the node whose state is read and written. */
  select(node: NodeState): void {
    this.#node = node;
  }

  read(vector: number, lane: number): number {
    return this.#arena.values[this.#positionOf(vector, lane)]!;
  }

  write(vector: number, lane: number, value: number): void {
    this.#arena.values[this.#positionOf(vector, lane)] = value;
  }

  writeKey(first: number, slot: number, lane: number, value: number): void {
    const group = 2 * this.#positionOf(first, lane - (lane % GROUP_LANES));
    this.#keys[group + keyPosition(slot, lane)] = orderKey(value);
  }

  writeRing(ring: Ring, row: number, lane: number, value: number): void {
    this.#arena.values[this.#arena.ringStart(ring, row) + lane] = value;
  }

  window(column: number, row: number, rowCount: number, lane: number, place = 0): Float64Array {
    let window = this.#windows[place];
    if (window === undefined || window.length < rowCount) {
      window = new Float64Array(rowCount);
      this.#windows[place] = window;
    }
    const first = row - rowCount + 1;
    this.#arena.copyLane(column, first, rowCount, lane, window);
    if (first < this.firstRow) window.fill(Number.NaN, 0, Math.min(rowCount, this.firstRow - first));
    return window;
  }

  historyRows(column: number): number {
    return this.#arena.historyRows(column);
  }

  #positionOf(vector: number, lane: number): number {
    const { windows, windowByteOffset } = this.#node;
    return windowByteOffset / VALUE_BYTES + vectorPosition(windows.length, vector, lane);
  }
}
