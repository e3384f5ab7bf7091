/** Gathers the values of one factor for record batches. */
import type { Data, Float64 } from "apache-arrow";
import { FactorCells } from "./factor_cells.ts";
import type { TableMemory } from "./table_memory.ts";

/** Memory of written batches, to be reused. */
type Spare = Pick<FactorCells, "values" | "validity">;

export class FactorValues {
  readonly #capacity: number;
  readonly #memory: TableMemory | null;
  /** Its memory grows with its content: a result of one row must not cost as much as a whole batch. */
  readonly #cells: FactorCells;
  readonly #spares: Spare[] = [];
  /** Values of the batch before. */
  #before = 0;
  /** Of the batches before. */
  #nullCount = 0;
  #nonFiniteCount = 0;

  /** `capacity` is the largest number of values of a batch; `memory` has room for all batches. */
  constructor(capacity: number, keepInfinite: boolean, memory: TableMemory | null) {
    this.#capacity = capacity;
    this.#memory = memory;
    this.#cells = new FactorCells(keepInfinite);
  }

  /** Over all batches. */
  get nullCount(): number {
    return this.#nullCount + this.#cells.nullCount;
  }

  /** Over all batches. */
  get nonFiniteCount(): number {
    return this.#nonFiniteCount + this.#cells.nonFiniteCount;
  }

  /** As `FactorCells.gather`; without a source all are null. */
  gather(source: Float64Array | null, cells: Int32Array, isDense: boolean): void {
    this.#ensureCapacity(this.#cells.filled + cells.length);
    if (source === null) this.#cells.addNulls(cells.length);
    else this.#cells.gather(source, cells, isDense);
  }

  /** The values added since the last call, as a column. */
  take(): Data<Float64> {
    const cells = this.#cells;
    const byteCount = (cells.filled + 7) >> 3;
    const isWhole = this.#memory !== null;
    cells.values = isWhole ? cells.values.subarray(0, cells.filled) : fitted(cells.values, cells.filled);
    cells.validity = isWhole ? cells.validity.subarray(0, byteCount) : fitted(cells.validity, byteCount);
    const data = cells.data();
    this.#before = cells.filled;
    this.#nullCount = this.nullCount;
    this.#nonFiniteCount = this.nonFiniteCount;
    cells.values = new Float64Array(0);
    cells.validity = new Uint8Array(0);
    cells.clear();
    return data;
  }

  /** Reuses the memory of a column. */
  reuse({ values, nullBitmap }: Data<Float64>): void {
    const validity = nullBitmap.length > 0 ? nullBitmap : new Uint8Array((values.length + 7) >> 3);
    this.#spares.push({ values, validity });
  }

  #ensureCapacity(filled: number): void {
    const cells = this.#cells;
    if (cells.values.length === 0) {
      Object.assign(cells, this.#spares.pop() ?? this.#memory?.take(this.#capacity));
      cells.validity.fill(255);
    }
    const length = Math.max(filled, this.#before);
    cells.values = grown(cells.values, length, this.#capacity);
    const byteCount = cells.validity.length;
    cells.validity = grown(cells.validity, (length + 7) >> 3, (this.#capacity + 7) >> 3);
    cells.validity.fill(255, byteCount);
  }
}

/** The array with space for `length` values, at least doubled when it must grow, but never beyond the capacity. */
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

/** The first values, without the space after them. */
export function fitted<T extends Float64Array | BigInt64Array | Int32Array | Uint8Array>(
  array: T,
  length: number,
): T {
  return (array.length === length ? array : array.slice(0, length)) as T;
}
