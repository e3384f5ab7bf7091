/** What a page of Parquet holds before it is compressed: which rows have a value, then the values of these. */
import { type ColumnValues, isNullAt } from "../write/table_columns.ts";
import { varint } from "./thrift.ts";

/** Space for all that stands before the values except a bit for each row: a length, the heads of two runs, a width. */
const HEAD_BYTES = 32;
const VALUE_BYTES_MAX = 8;
/** Bit-packed runs have a multiple of so many values. */
const RUN_VALUES = 8;

/** Least and greatest value. */
export type Range<T> = readonly [least: T, greatest: T];

export interface PageValues {
  /** Valid until the memory is used again. */
  readonly bytes: Uint8Array;
  readonly nullCount: number;
  /** Of numbers; null without a value, and of text. */
  readonly range: Range<number> | Range<bigint> | null;
}

/** Memory for one page at a time. */
export class PageMemory {
  #bytes = new Uint8Array(0);
  /** A bit per row, least significant first, 1 for a value. */
  #bits = new Uint8Array(0);
  /** Where values begin; what stands before them is written from here backwards. */
  #start = 0;

  /** A page of numbers. */
  pageOf(cells: ColumnValues, rowCount: number): PageValues {
    this.#reserve(rowCount);
    const { values } = cells;
    const { count, range } =
      values instanceof Float64Array
        ? this.#packDoubles(values, cells, rowCount)
        : this.#packIntegers(values as BigInt64Array, cells, rowCount);
    const bytes = this.#page(rowCount, count, count * values.BYTES_PER_ELEMENT);
    return { bytes, nullCount: rowCount - count, range };
  }

  /** A page of texts, each its position in a dictionary of `labelCount` texts, -1 for null. */
  pageOfPositions(positions: Int32Array, rowCount: number, labelCount: number): PageValues {
    this.#reserve(rowCount);
    // Packed in whole bytes, which compression makes up for.
    const Packed = labelCount <= 2 ** 8 ? Uint8Array : labelCount <= 2 ** 16 ? Uint16Array : Uint32Array;
    const packed = new Packed(this.#bytes.buffer, this.#start, rowCount + RUN_VALUES);
    let count = 0;
    for (let row = 0; row < rowCount; row += 1) {
      if (positions[row] === -1) continue;
      packed[count] = positions[row]!;
      count += 1;
      this.#bits[row >> 3]! |= 1 << (row & 7);
    }
    packed.fill(0, count);
    const runs = Math.ceil(count / RUN_VALUES);
    const head = [Packed.BYTES_PER_ELEMENT * 8, ...varint((runs << 1) | 1)];
    const valueBytes = runs * RUN_VALUES * Packed.BYTES_PER_ELEMENT;
    return {
      bytes: this.#page(rowCount, count, valueBytes, head),
      nullCount: rowCount - count,
      range: null,
    };
  }

  #reserve(rowCount: number): void {
    const bitBytes = Math.ceil(rowCount / 8);
    this.#start = VALUE_BYTES_MAX * Math.ceil((HEAD_BYTES + bitBytes) / VALUE_BYTES_MAX);
    const length = this.#start + VALUE_BYTES_MAX * (rowCount + RUN_VALUES);
    if (this.#bytes.length < length) this.#bytes = new Uint8Array(length);
    if (this.#bits.length < bitBytes) this.#bits = new Uint8Array(bitBytes);
    this.#bits.fill(0);
  }

  #packDoubles(values: Float64Array, cells: ColumnValues, rowCount: number) {
    const packed = new Float64Array(this.#bytes.buffer, this.#start, rowCount);
    const bits = this.#bits;
    let [count, least, greatest] = [0, Infinity, -Infinity];
    for (let row = 0; row < rowCount; row += 1) {
      const value = values[row]!;
      if (Number.isNaN(value) || isNullAt(cells, row)) continue;
      packed[count] = value;
      count += 1;
      bits[row >> 3]! |= 1 << (row & 7);
      if (value < least) least = value;
      if (value > greatest) greatest = value;
    }
    return { count, range: count === 0 ? null : ([least, greatest] as const) };
  }

  #packIntegers<T extends Int32Array | BigInt64Array>(values: T, cells: ColumnValues, rowCount: number) {
    const Packed = values.constructor as typeof BigInt64Array;
    const packed = new Packed(this.#bytes.buffer, this.#start, rowCount);
    let [count, least, greatest] = [0, values[0], values[0]];
    for (let row = 0; row < rowCount; row += 1) {
      if (isNullAt(cells, row)) continue;
      const value = values[row] as bigint;
      packed[count] = value;
      if (count === 0 || value < least!) least = value;
      if (count === 0 || value > greatest!) greatest = value;
      count += 1;
      this.#bits[row >> 3]! |= 1 << (row & 7);
    }
    return { count, range: count === 0 ? null : ([least, greatest] as Range<bigint>) };
  }

  /** The levels of the rows, what stands before the values, and these. */
  #page(rowCount: number, count: number, valueBytes: number, head: readonly number[] = []): Uint8Array {
    const bits = this.#bits.subarray(0, count === rowCount ? 0 : Math.ceil(rowCount / 8));
    // One run of ones, or a run of bits.
    const run = count === rowCount ? [...varint(rowCount << 1), 1] : varint((bits.length << 1) | 1);
    const first = this.#start - head.length - bits.length - run.length - Uint32Array.BYTES_PER_ELEMENT;
    new DataView(this.#bytes.buffer).setUint32(first, run.length + bits.length, true);
    this.#bytes.set(run, first + Uint32Array.BYTES_PER_ELEMENT);
    this.#bytes.set(bits, this.#start - head.length - bits.length);
    this.#bytes.set(head, this.#start - head.length);
    return this.#bytes.subarray(first, this.#start + valueBytes);
  }
}
