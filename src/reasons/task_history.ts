/** The last rows of a task's values and of the origins of its nulls, as windows read them. */
export class TaskHistory {
  readonly #laneCount: number;
  readonly #capacity: number;
  readonly #values: Float64Array;
  readonly #origins: Int32Array;
  #rowCount = 0;

  /** Bytes that it allocates. */
  static bytesOf(capacity: number, laneCount: number): number {
    return capacity * laneCount * (Float64Array.BYTES_PER_ELEMENT + Int32Array.BYTES_PER_ELEMENT);
  }

  /** @param capacity rows that are kept: those before a block that windows read, and those of the block */
  constructor(capacity: number, laneCount: number) {
    this.#laneCount = laneCount;
    this.#capacity = capacity;
    this.#values = new Float64Array(capacity * laneCount);
    this.#origins = new Int32Array(capacity * laneCount);
  }

  /** Takes the next rows. */
  take(values: Float64Array, origins: Int32Array, rowCount: number): void {
    const laneCount = this.#laneCount;
    for (let row = 0; row < rowCount; row++) {
      const [start, end] = [row * laneCount, (row + 1) * laneCount];
      const kept = this.#start(this.#rowCount + row);
      this.#values.set(values.subarray(start, end), kept);
      this.#origins.set(origins.subarray(start, end), kept);
    }
    this.#rowCount += rowCount;
  }

  /** Forgets the rows: the next one is counted as the first. */
  restart(): void {
    this.#rowCount = 0;
  }

  /** The values of a lane in the rows up to one, which is counted from the first that was taken. */
  window(row: number, lane: number, rows: number): Float64Array {
    const length = Math.min(rows, row + 1);
    const column = new Float64Array(length);
    let at = (row - length + 1) % this.#capacity;
    for (let i = 0; i < length; i++) {
      column[i] = this.#values[at * this.#laneCount + lane]!;
      at = at + 1 === this.#capacity ? 0 : at + 1;
    }
    return column;
  }

  origin(row: number, lane: number): number {
    return this.#origins[this.#start(row) + lane]!;
  }

  #start(row: number): number {
    return (row % this.#capacity) * this.#laneCount;
  }
}
