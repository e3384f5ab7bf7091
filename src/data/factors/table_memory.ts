/** Columns of smaller tables are allocated one by one. */
const BYTES_MIN = 64 * 2 ** 20;

/**
 * The memory of all values of a table in one buffer. The C library maps a large buffer by itself and gives it back to the
 * system when the table is let go; thousands of small ones stay in the process.
 */
export class TableMemory {
  readonly #buffer: ArrayBuffer;
  #used = 0;

  /** For `columnCount` columns of at most `capacity` values; null if they are small. */
  static for(columnCount: number, capacity: number): TableMemory | null {
    const bytes = columnCount * columnBytes(capacity);
    return bytes < BYTES_MIN ? null : new TableMemory(bytes);
  }

  private constructor(bytes: number) {
    this.#buffer = new ArrayBuffer(bytes);
  }

  /** The next column's values and validity. */
  take(capacity: number): { readonly values: Float64Array; readonly validity: Uint8Array } {
    const start = this.#used;
    this.#used += columnBytes(capacity);
    const validityStart = start + capacity * Float64Array.BYTES_PER_ELEMENT;
    return {
      values: new Float64Array(this.#buffer, start, capacity),
      validity: new Uint8Array(this.#buffer, validityStart, (capacity + 7) >> 3),
    };
  }
}

/** Values, and one bit for each, up to a multiple of 8 bytes. */
function columnBytes(capacity: number): number {
  return capacity * Float64Array.BYTES_PER_ELEMENT + 8 * Math.ceil(capacity / 64);
}
