/** The values of one factor on their way into a record batch. */
import { type Data, Float64, makeData } from "apache-arrow";

/** Memory of a batch that is written, for another one. */
interface Spare {
  readonly values: Float64Array;
  readonly validity: Uint8Array;
}

export class FactorValues {
  readonly #capacity: number;
  readonly #keepInfinite: boolean;
  /** Grows as it is filled: a result of one row must not cost the memory of a whole batch. */
  #values: Float64Array = new Float64Array(0);
  /** One bit per value, least significant first, 1 for a value and 0 for null; 1 behind the last one. */
  #validity: Uint8Array = new Uint8Array(0);
  readonly #spares: Spare[] = [];
  #filled = 0;
  /** Values of the batch before. */
  #before = 0;
  #batchNullCount = 0;
  /** Over all batches. */
  nullCount = 0;
  nonFiniteCount = 0;

  /** `capacity` is the largest number of values of a batch. */
  constructor(capacity: number, keepInfinite: boolean) {
    this.#capacity = capacity;
    this.#keepInfinite = keepInfinite;
  }

  /** Adds the values of these cells, ascending; a null leaves 0 in the values, so that equal tables are equal in all bytes. */
  gather(source: Float64Array | null, cells: Uint32Array): void {
    const start = this.#filled;
    this.#makeRoom(start + cells.length);
    this.#filled += cells.length;
    const dense = source === null ? null : denseCells(source, cells);
    if (dense !== null && areFinite(dense)) this.#values.set(dense, start);
    else this.#addEach(source, cells, start);
  }

  #addEach(source: Float64Array | null, cells: Uint32Array, start: number): void {
    const [values, validity, keepInfinite] = [this.#values, this.#validity, this.#keepInfinite];
    let nullCount = 0;
    let nonFiniteCount = 0;
    for (let index = 0; index < cells.length; index += 1) {
      const value = source === null ? Number.NaN : source[cells[index]!]!;
      const position = start + index;
      const isInfinite = value === Infinity || value === -Infinity;
      if (isInfinite) nonFiniteCount += 1;
      if (Number.isNaN(value) || (isInfinite && !keepInfinite)) {
        nullCount += 1;
        values[position] = 0;
        validity[position >> 3]! &= ~(1 << (position & 7));
      } else values[position] = value;
    }
    this.#batchNullCount += nullCount;
    this.nullCount += nullCount;
    this.nonFiniteCount += nonFiniteCount;
  }

  /** The values added since the last call, as a column. */
  take(): Data<Float64> {
    const length = this.#filled;
    const nullCount = this.#batchNullCount;
    const byteCount = (length + 7) >> 3;
    if (length % 8 > 0) this.#validity[byteCount - 1]! &= 2 ** (length % 8) - 1;
    const data = makeData({
      type: new Float64(),
      length,
      nullCount,
      nullBitmap: nullCount === 0 ? null : fitted(this.#validity, byteCount),
      data: fitted(this.#values, length),
    });
    this.#values = new Float64Array(0);
    this.#validity = new Uint8Array(0);
    this.#before = length;
    this.#filled = 0;
    this.#batchNullCount = 0;
    return data;
  }

  /** Uses the memory of a column for another one. */
  reuse({ values, nullBitmap }: Data<Float64>): void {
    const validity = nullBitmap.length > 0 ? nullBitmap : new Uint8Array((values.length + 7) >> 3);
    this.#spares.push({ values, validity });
  }

  #makeRoom(filled: number): void {
    if (this.#values.length === 0) {
      const { values, validity } = this.#spares.pop() ?? { values: this.#values, validity: this.#validity };
      this.#values = values;
      this.#validity = validity.fill(255);
    }
    const length = Math.max(filled, this.#before);
    this.#values = grown(this.#values, length, this.#capacity);
    const byteCount = this.#validity.length;
    this.#validity = grown(this.#validity, (length + 7) >> 3, (this.#capacity + 7) >> 3);
    this.#validity.fill(255, byteCount);
  }
}

/** The cells if they lie one after the other; null if they do not. */
function denseCells(source: Float64Array, cells: Uint32Array): Float64Array | null {
  if (cells.length === 0) return null;
  const [first, last] = [cells[0]!, cells.at(-1)!];
  return last - first === cells.length - 1 ? source.subarray(first, last + 1) : null;
}

function areFinite(values: Float64Array): boolean {
  let probe = 0;
  // 0, and NaN for NaN and infinities.
  for (let index = 0; index < values.length; index += 1) probe += values[index]! * 0;
  return probe === 0;
}

/** The array with room for `length` values, at least doubled when it must grow, but never beyond the capacity. */
export function grown<T extends Float64Array | BigInt64Array | Int32Array | Uint8Array>(
  array: T,
  length: number,
  capacity: number,
): T {
  if (length <= array.length) return array;
  const larger = new (array.constructor as new (length: number) => T)(
    Math.min(capacity, Math.max(length, array.length * 2)),
  );
  larger.set(array as never);
  return larger;
}

/** The first values, without the room behind them. */
export function fitted<T extends Float64Array | BigInt64Array | Int32Array | Uint8Array>(
  array: T,
  length: number,
): T {
  return (array.length === length ? array : array.slice(0, length)) as T;
}
