/** A ring of rows that belongs to one kernel, beside the columns of the plan. */
export interface Ring {
  readonly byteOffset: number;
  readonly ringRows: number;
  /** Value of every row before the first. */
  readonly initial: number;
}

/**
 * What kernels carry from row to row, beside the columns of the plan.
 *
 * Vectors hold one double per lane and are as long as a column's row. Recurrences read one generation and write the
 * other, so that a block can be run again. What a window carries is a function of the rows in its columns: it is kept
 * once, and made anew from them if a part was cut off in the middle.
 */
export class StateLayout {
  /** Value of each recurrence vector before the first row. */
  readonly recurrences: number[] = [];
  /** Value of each window vector before the first row. */
  readonly windows: number[] = [];
  readonly rings: Ring[] = [];
  readonly #rowBytes: number;
  readonly #blockRows: number;
  /** Where the rings end. */
  byteOffset: number;

  constructor(byteOffset: number, rowBytes: number, blockRows: number) {
    this.byteOffset = byteOffset;
    this.#rowBytes = rowBytes;
    this.#blockRows = blockRows;
  }

  /** Reserves vectors; returns the index of the first. */
  addRecurrence(initial: readonly number[]): number {
    return this.recurrences.push(...initial) - initial.length;
  }

  addWindow(initial: readonly number[]): number {
    return this.windows.push(...initial) - initial.length;
  }

  /** Reserves a ring whose readers look back so many rows. */
  addRing(historyRows: number, initial: number): Ring {
    const ring = { byteOffset: this.byteOffset, ringRows: historyRows + this.#blockRows, initial };
    this.rings.push(ring);
    this.byteOffset += ring.ringRows * this.#rowBytes;
    return ring;
  }
}
