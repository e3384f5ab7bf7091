/** A finished row of a factor (written by executors) as an output column over the same memory. */
import { BufferType, Data, type Float64 } from "apache-arrow";
import type { FinishedRow } from "../../kernel/run/finished_rows.ts";
import { FLOAT64, NO_BYTES } from "./factor_cells.ts";

type Buffers = NonNullable<ConstructorParameters<typeof Data<Float64>>[4]>;

export class FinishedFactor {
  readonly row: FinishedRow;
  /** Infinities of the last column, kept or not. */
  nonFiniteCount = 0;
  readonly #keepInfinite: boolean;
  readonly #validBytes: Uint8Array;
  /** Columns over earlier rows, which have the same memory and length. */
  #buffers: { readonly length: number; readonly finite: Buffers; readonly nullable: Buffers } | null = null;

  constructor(row: FinishedRow, keepInfinite: boolean) {
    this.row = row;
    this.#keepInfinite = keepInfinite;
    const { buffer, byteOffset, byteLength } = row.valid;
    this.#validBytes = new Uint8Array(buffer, byteOffset, byteLength);
  }

  /** The first lanes as a column. Repeatable: the marks of infinities stay where these were replaced by nulls. */
  data(length: number): Data<Float64> {
    const { valid, infinite } = this.row;
    this.nonFiniteCount = countBits(infinite, length);
    if (this.nonFiniteCount > 0 && !this.#keepInfinite) this.#takeOutInfinite(length);
    // The remaining bits are of lanes without a symbol.
    if (length % 8 > 0) this.#validBytes[length >> 3]! &= 2 ** (length % 8) - 1;
    const nullCount = length - countBits(valid, length);
    const { finite, nullable } = this.#buffersOf(length);
    return new Data(FLOAT64, 0, length, nullCount, nullCount === 0 ? finite : nullable);
  }

  #buffersOf(length: number): { readonly finite: Buffers; readonly nullable: Buffers } {
    if (this.#buffers?.length === length) return this.#buffers;
    const values = this.row.values.subarray(0, length);
    const valid = this.#validBytes.subarray(0, (length + 7) >> 3);
    this.#buffers = {
      length,
      finite: { [BufferType.DATA]: values, [BufferType.VALIDITY]: NO_BYTES },
      nullable: { [BufferType.DATA]: values, [BufferType.VALIDITY]: valid },
    };
    return this.#buffers;
  }

  #takeOutInfinite(length: number): void {
    const { values, valid, infinite } = this.row;
    for (let lane = 0; lane < length; lane++) {
      const bit = 1 << (lane & 31);
      if ((infinite[lane >> 5]! & bit) === 0) continue;
      values[lane] = Number.NaN;
      valid[lane >> 5]! &= ~bit;
    }
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
