/** The last rows of a task's values and of the origins of its nulls, as windows read them. */
export class TaskHistory {
  readonly #laneCount: number;
  readonly #capacity: number;
  readonly #values: Float64Array;
  readonly #origins: Int32Array;
  #rowCount = 0;

  /** @param capacity rows that are kept */
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
      const kept = this.#cell(this.#rowCount + row, 0);
      this.#values.set(values.subarray(start, end), kept);
      this.#origins.set(origins.subarray(start, end), kept);
    }
    this.#rowCount += rowCount;
  }

  /** The value of a lane in a row, which is counted from the first that was taken. */
  value(row: number, lane: number): number {
    return this.#values[this.#cell(row, lane)]!;
  }

  origin(row: number, lane: number): number {
    return this.#origins[this.#cell(row, lane)]!;
  }

  /** The values of the last rows up to one. */
  window(row: number, lane: number, rows: number): Float64Array {
    const column = new Float64Array(rows);
    for (let i = 0; i < rows; i++) column[i] = this.value(row - rows + 1 + i, lane);
    return column;
  }

  #cell(row: number, lane: number): number {
    return (row % this.#capacity) * this.#laneCount + lane;
  }
}
