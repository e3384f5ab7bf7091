/** The values of one factor on their way into a record batch. */
import { type Data, Float64, makeData } from "apache-arrow";

export class FactorValues {
  readonly #capacity: number;
  readonly #keepInfinite: boolean;
  /** Grows as it is filled: a result of one row must not cost the memory of a whole batch. */
  #values = new Float64Array(0);
  /** One bit per value, least significant first, 1 for a value and 0 for null. */
  #validity = new Uint8Array(0);
  #filled = 0;
  #batchNullCount = 0;
  /** Over all batches. */
  nullCount = 0;
  nonFiniteCount = 0;

  /** `capacity` is the largest number of values of a batch. */
  constructor(capacity: number, keepInfinite: boolean) {
    this.#capacity = capacity;
    this.#keepInfinite = keepInfinite;
  }

  /** Adds the values of these cells; a null leaves 0 in the values, so that equal tables are equal in all bytes. */
  gather(source: Float64Array | null, cells: Uint32Array): void {
    const start = this.#filled;
    this.#filled += cells.length;
    this.#values = grown(this.#values, this.#filled, this.#capacity);
    this.#validity = grown(this.#validity, (this.#filled + 7) >> 3, (this.#capacity + 7) >> 3);
    let nullCount = source === null ? cells.length : 0;
    let nonFiniteCount = 0;
    const [values, validity, keepInfinite] = [this.#values, this.#validity, this.#keepInfinite];
    for (let index = 0; source !== null && index < cells.length; index += 1) {
      const value = source[cells[index]!]!;
      const isInfinite = value === Infinity || value === -Infinity;
      if (isInfinite) nonFiniteCount += 1;
      if (Number.isNaN(value) || (isInfinite && !keepInfinite)) {
        nullCount += 1;
        continue;
      }
      const position = start + index;
      values[position] = value;
      validity[position >> 3]! |= 1 << (position & 7);
    }
    this.#batchNullCount += nullCount;
    this.nullCount += nullCount;
    this.nonFiniteCount += nonFiniteCount;
  }

  /** The values added since the last call, as a column. */
  take(): Data<Float64> {
    const length = this.#filled;
    const nullCount = this.#batchNullCount;
    const data = makeData({
      type: new Float64(),
      length,
      nullCount,
      nullBitmap: nullCount === 0 ? null : fitted(this.#validity, (length + 7) >> 3),
      data: fitted(this.#values, length),
    });
    this.#values = new Float64Array(0);
    this.#validity = new Uint8Array(0);
    this.#filled = 0;
    this.#batchNullCount = 0;
    return data;
  }
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
