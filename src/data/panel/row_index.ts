/** Finds the panel row of a time. */

/** Multipliers of the two words of a time (Fibonacci hashing). */
const SPREAD_LOW = 0x9e3779b1;
const SPREAD_HIGH = 0x85ebca6b;
const NONE = -1;

/**
 * Panel rows by time: a hash table over the two 32-bit words of each time, because a `Map` of BigInt takes ten times as
 * long. Input is mostly in the order of time, so the last found row and the next one are tried first.
 */
export class RowIndex {
  readonly #times: Int32Array;
  readonly #rowCount: number;
  readonly #slots: Int32Array;
  #lastRow = 0;

  constructor(times: BigInt64Array) {
    this.#times = new Int32Array(times.buffer, times.byteOffset, times.length * 2);
    this.#rowCount = times.length;
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(times.length * 2 + 1))).fill(NONE);
    for (let row = 0; row < times.length; row += 1) {
      this.#slots[this.#findSlot(this.#times[row * 2]!, this.#times[row * 2 + 1]!)] = row;
    }
  }

  /** Row of the time with these words; -1 if there is none. */
  rowOf(low: number, high: number): number {
    let row = this.#lastRow;
    if (!this.#isAt(row, low, high)) {
      row += 1;
      if (row >= this.#rowCount || !this.#isAt(row, low, high)) row = this.#slots[this.#findSlot(low, high)]!;
    }
    if (row !== NONE) this.#lastRow = row;
    return row;
  }

  #isAt(row: number, low: number, high: number): boolean {
    return this.#times[row * 2] === low && this.#times[row * 2 + 1] === high;
  }

  /** The slot of this time, or the free slot for it. */
  #findSlot(low: number, high: number): number {
    const mask = this.#slots.length - 1;
    const hash = Math.imul(low, SPREAD_LOW) ^ Math.imul(high, SPREAD_HIGH);
    let slot = (hash ^ (hash >>> 15)) & mask;
    for (;;) {
      const row = this.#slots[slot]!;
      if (row === NONE || this.#isAt(row, low, high)) return slot;
      slot = (slot + 1) & mask;
    }
  }
}
