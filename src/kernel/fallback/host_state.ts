import type { Arena } from "../memory/arena.ts";
import type { NodeState } from "../memory/state_layout.ts";
import { vectorPosition } from "../memory/state_layout.ts";

/** The host's access to the window state of one node and to the rows of columns, one lane at a time. */
export class HostState {
  readonly arena: Arena;
  #node: NodeState;
  readonly #rows: Float64Array[] = [];

  constructor(arena: Arena, first: NodeState) {
    this.arena = arena;
    this.#node = first;
  }

  open(node: NodeState): void {
    this.#node = node;
  }

  /** Position of a vector's value for a lane, in doubles. */
  positionOf(vector: number, lane: number): number {
    const { windows, windowByteOffset } = this.#node;
    return windowByteOffset / Float64Array.BYTES_PER_ELEMENT + vectorPosition(windows.length, vector, lane);
  }

  read(vector: number, lane: number): number {
    return this.arena.values[this.positionOf(vector, lane)]!;
  }

  write(vector: number, lane: number, value: number): void {
    this.arena.values[this.positionOf(vector, lane)] = value;
  }

  /** The last rows of a lane up to `row`, oldest first, in a buffer that is reused for each `place`. */
  window(column: number, row: number, rowCount: number, lane: number, place = 0): Float64Array {
    let window = this.#rows[place];
    if (window === undefined || window.length < rowCount) {
      window = new Float64Array(rowCount);
      this.#rows[place] = window;
    }
    this.arena.copyLane(column, row - rowCount + 1, rowCount, lane, window);
    return window;
  }
}
