import type { Arena } from "../memory/arena.ts";
import { type LevelSite, nothingOf } from "../windows/extremes.ts";

/** Rebuilds the rings of doubling levels from the rows in the columns. */
export class HostLevels {
  readonly #arena: Arena;
  readonly #rowLength: number;
  /** One lane's extremes and their row numbers; buffers are reused. */
  #values = new Float64Array(0);
  #rows = new Float64Array(0);

  constructor(arena: Arena, rowBytes: number) {
    this.#arena = arena;
    this.#rowLength = rowBytes / Float64Array.BYTES_PER_ELEMENT;
  }

  /** Fills the rows up to `row` that later rows read, as far as the column's history goes. */
  rebuild(site: LevelSite, row: number, lane: number): void {
    const { column, level, holds, ring } = site;
    const span = 2 ** level;
    const kept = Math.min(span, this.#arena.historyRows(column) - span + 1);
    const first = row - kept - span + 2;
    this.#load(site, first, kept + span - 1, lane);
    for (let half = 1; half < span; half *= 2) this.#double(site, half, kept + span - 1);
    const made = holds === "value" ? this.#values : this.#rows;
    const start = ring.byteOffset / Float64Array.BYTES_PER_ELEMENT + lane;
    for (let i = span - 1; i < kept + span - 1; i++) {
      const slot = (first + i + ring.ringRows) % ring.ringRows;
      this.#arena.values[start + slot * this.#rowLength] = made[i]!;
    }
  }

  #load({ column, skipsNulls, extreme }: LevelSite, firstRow: number, count: number, lane: number): void {
    if (this.#values.length < count) {
      this.#values = new Float64Array(count);
      this.#rows = new Float64Array(count);
    }
    this.#arena.copyLane(column, firstRow, count, lane, this.#values);
    for (let i = 0; i < count; i++) {
      if (skipsNulls && Number.isNaN(this.#values[i])) this.#values[i] = nothingOf(extreme);
      this.#rows[i] = firstRow + i;
    }
  }

  /**
   * Turns extremes of `half` rows into extremes of twice as many, newest first, so that older ones still cover `half`
   * rows.
   */
  #double({ extreme, holds }: LevelSite, half: number, count: number): void {
    const [values, rows] = [this.#values, this.#rows];
    const isLargest = extreme === "largest";
    for (let i = count - 1; i >= half; i--) {
      const [newer, older] = [values[i]!, values[i - half]!];
      if (holds === "row" && !(isLargest ? newer > older : newer < older)) rows[i] = rows[i - half]!;
      values[i] = isLargest ? Math.max(newer, older) : Math.min(newer, older);
    }
  }
}
