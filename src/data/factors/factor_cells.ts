/** The output column of one factor while it is filled. */
import { BufferType, Data, Float64 } from "apache-arrow";
import type { FinishedRow } from "../../kernel/run/finished_rows.ts";

const FLOAT64 = new Float64();
/** The validity of a column without nulls. */
const NO_BYTES = new Uint8Array(0);

/** Values that are tested together; one null makes a whole group be tested singly. */
const PROBED_VALUES = 16;

/** Values and validity in memory of the caller, and counts of nulls and infinities. */
export class FactorCells {
  values: Float64Array = new Float64Array(0);
  /** One bit per value, least significant first, 0 for null; 1 in the part that is not filled yet. */
  validity: Uint8Array = new Uint8Array(0);
  filled = 0;
  nullCount = 0;
  /** Infinities, kept or not. */
  nonFiniteCount = 0;
  readonly #keepInfinite: boolean;

  constructor(keepInfinite: boolean) {
    this.#keepInfinite = keepInfinite;
  }

  /** Empties the column, and resets its memory. */
  clear(): void {
    this.validity.fill(255);
    this.filled = 0;
    this.nullCount = 0;
    this.nonFiniteCount = 0;
  }

  /**
   * Adds the values of these cells, NaN for null; the memory must have space for them. Every null has the same NaN, which
   * no caller who reads values without validity takes for a number, so that equal tables are equal in all bytes.
   *
   * @param isDense whether the cells are consecutive
   */
  gather(source: Float64Array, cells: Int32Array, isDense: boolean): void {
    const { values, filled: start } = this;
    this.filled += cells.length;
    if (isDense && cells.length > 0) values.set(source.subarray(cells[0], cells.at(-1)! + 1), start);
    else for (let index = 0; index < cells.length; index++) values[start + index] = source[cells[index]!]!;
    this.#takeOutNonFinite(start);
  }

  /**
   * Adds the values of these cells of a finished row; the memory must have space for them.
   *
   * @param areFirst whether the cells are the first lanes, in their order
   */
  gatherFinished(row: FinishedRow, cells: Int32Array, areFirst: boolean): void {
    if (areFirst && this.filled % 8 === 0) this.#copyFinished(row, cells.length);
    else this.gather(row.values, cells, areFirst);
  }

  /** Adds the first lanes; what was filled before ends with a whole byte of bits. */
  #copyFinished({ values, valid, infinite }: FinishedRow, length: number): void {
    const start = this.filled;
    this.filled += length;
    this.values.set(values.subarray(0, length), start);
    const nullCount = length - countBits(valid, length);
    if (nullCount > 0) {
      this.nullCount += nullCount;
      this.validity.set(new Uint8Array(valid.buffer, valid.byteOffset, (length + 7) >> 3), start >> 3);
      // The remaining bits are of lanes without a symbol.
      if (length % 8 > 0) this.validity[this.filled >> 3]! |= 255 << (length % 8);
    }
    const infinities = countBits(infinite, length);
    if (infinities > 0) this.#takeOutInfinite(start, infinities);
  }

  #takeOutInfinite(start: number, count: number): void {
    if (this.#keepInfinite) {
      this.nonFiniteCount += count;
      return;
    }
    for (let position = start; position < this.filled; position++) {
      const value = this.values[position]!;
      if (Math.abs(value) === Number.POSITIVE_INFINITY) this.#takeOut(value, position);
    }
  }

  /** Adds nulls; the memory must have space for them. */
  addNulls(count: number): void {
    const { filled: start } = this;
    this.filled += count;
    this.values.fill(Number.NaN, start, this.filled);
    for (let position = start; position < this.filled; position++) this.#clearBit(position);
    this.nullCount += count;
  }

  /** Tests values in groups, because most have only finite ones. */
  #takeOutNonFinite(start: number): void {
    const { values, filled } = this;
    for (let first = start; first < filled; first += PROBED_VALUES) {
      const end = Math.min(filled, first + PROBED_VALUES);
      if (areFinite(values, first, end)) continue;
      for (let position = first; position < end; position++) {
        const value = values[position]!;
        if (!Number.isFinite(value)) this.#takeOut(value, position);
      }
    }
  }

  #takeOut(value: number, position: number): void {
    if (!Number.isNaN(value)) {
      this.nonFiniteCount++;
      if (this.#keepInfinite) return;
    }
    this.nullCount++;
    this.values[position] = Number.NaN;
    this.#clearBit(position);
  }

  #clearBit(position: number): void {
    this.validity[position >> 3]! &= ~(1 << (position & 7));
  }

  /** The filled part as a column over the same memory. */
  data(): Data<Float64> {
    const { filled: length, nullCount } = this;
    const byteCount = (length + 7) >> 3;
    if (length % 8 > 0) this.validity[byteCount - 1]! &= 2 ** (length % 8) - 1;
    const validity = nullCount === 0 ? NO_BYTES : firstOf(this.validity, byteCount);
    const buffers = { [BufferType.DATA]: firstOf(this.values, length), [BufferType.VALIDITY]: validity };
    return new Data(FLOAT64, 0, length, nullCount, buffers);
  }
}

/** The number of ones among the first bits. */
function countBits(words: Uint32Array, length: number): number {
  const whole = length >> 5;
  let count = 0;
  for (let index = 0; index < whole; index++) count += onesOf(words[index]!);
  return length % 32 === 0 ? count : count + onesOf(words[whole]! & (2 ** (length % 32) - 1));
}

/** The number of ones in 32 bits: parallel sums of two, four and eight bits, then of the bytes. */
function onesOf(word: number): number {
  let sums = word - ((word >>> 1) & 0x55555555);
  sums = (sums & 0x33333333) + ((sums >>> 2) & 0x33333333);
  sums = (sums + (sums >>> 4)) & 0x0f0f0f0f;
  return Math.imul(sums, 0x01010101) >>> 24;
}

function firstOf<T extends Float64Array | Uint8Array>(array: T, length: number): T {
  return (array.length === length ? array : array.subarray(0, length)) as T;
}

function areFinite(values: Float64Array, first: number, end: number): boolean {
  // 0 for finite values, NaN for others; several sums, because each addition to one has to wait for the last.
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let position = first;
  for (; position < end - 3; position += 4) {
    a += values[position]! * 0;
    b += values[position + 1]! * 0;
    c += values[position + 2]! * 0;
    d += values[position + 3]! * 0;
  }
  for (; position < end; position++) a += values[position]! * 0;
  return a + b + c + d === 0;
}
