import type { WindowRows } from "../operator/definition.ts";
import type { Values } from "./columns.ts";
import { SizedBuffers } from "./sized_buffers.ts";

/** Up to so many values a plain loop copies a window faster than `copyWithin` (20 ns a call, Node 26). */
const LOOP_COPY_VALUES_MAX = 32;

/** One lane of every argument, contiguous and without the rows that are left out. */
export class PackedLane {
  /** Row numbers of the rows kept, ascending. */
  readonly rows: Int32Array;
  /** How many rows were kept. */
  keptCount = 0;
  readonly #operands: readonly Values[];
  readonly #laneCount: number;
  readonly #rowStart: number;
  readonly #rowEnd: number;
  /** Per argument: the window handed to the reference (`#windowMax` values), then the rows kept. */
  readonly #memory: readonly Float64Array[];
  readonly #windowMax: number;
  readonly #windows: SizedBuffers;
  readonly #positionMemory: Float64Array;
  readonly #positions: SizedBuffers;

  /** Holds the rows `[rowStart - windowRows + 1, rowEnd)`, as far as they exist. */
  constructor(
    operands: readonly Values[],
    laneCount: number,
    rowStart: number,
    rowEnd: number,
    windowRows: number,
  ) {
    this.#operands = operands;
    this.#laneCount = laneCount;
    this.#rowStart = Math.max(0, rowStart - windowRows + 1);
    this.#rowEnd = rowEnd;
    const rowCount = rowEnd - this.#rowStart;
    this.#windowMax = Math.min(windowRows, rowCount);
    this.rows = new Int32Array(rowCount);
    this.#memory = operands.map(() => new Float64Array(this.#windowMax + rowCount));
    this.#windows = new SizedBuffers(this.#memory);
    this.#positionMemory = new Float64Array(this.#windowMax);
    this.#positions = new SizedBuffers([this.#positionMemory]);
  }

  /** Reads a lane; rows with a null in any argument are left out unless `keepsNulls`. */
  load(lane: number, keepsNulls: boolean): void {
    const offset = this.#windowMax;
    let kept = 0;
    for (let row = this.#rowStart; row < this.#rowEnd; row++) {
      const cell = row * this.#laneCount + lane;
      let isNull = false;
      for (let k = 0; k < this.#operands.length; k++) {
        const operand = this.#operands[k]!;
        const value = typeof operand === "number" ? operand : operand[cell]!;
        isNull ||= Number.isNaN(value);
        this.#memory[k]![offset + kept] = value;
      }
      this.rows[kept] = row;
      if (keepsNulls || !isNull) kept++;
    }
    this.keptCount = kept;
  }

  /** Where the kept rows `[start, end)` stand in a window that begins at `firstRow`; `row` is the current row. */
  positions(start: number, end: number, firstRow: number, row: number): WindowRows {
    for (let i = start; i < end; i++) this.#positionMemory[i - start] = this.rows[i]! - firstRow;
    return { positions: this.#positions.ofLength(end - start)[0]!, last: row - firstRow };
  }

  /**
   * The kept rows `[start, end)` of every argument, oldest first. Copied anew for every cell, because a reference
   * may sort its window in place.
   */
  window(start: number, end: number): readonly Float64Array[] {
    const offset = this.#windowMax;
    const windows = this.#windows.ofLength(end - start);
    for (const memory of this.#memory) {
      if (end - start > LOOP_COPY_VALUES_MAX) memory.copyWithin(0, offset + start, offset + end);
      else for (let i = start; i < end; i++) memory[i - start] = memory[offset + i]!;
    }
    return windows;
  }
}
