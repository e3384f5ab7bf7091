/** What a page of Parquet holds before it is compressed: which rows have a value, then the values of these. */
import { type ColumnValues, isNullAt } from "./table_columns.ts";
import { varint } from "./thrift.ts";

/** Least and greatest value, null without values. A text stands as its bytes, each of them a character. */
export type Range = readonly [least: Ordered, greatest: Ordered] | null;
type Ordered = number | bigint | string;

export interface PageValues {
  readonly bytes: Uint8Array;
  readonly rowCount: number;
  readonly nullCount: number;
  readonly range: Range;
}

/** Values of a batch that are not null. */
interface Packed {
  readonly count: number;
  readonly bytes: readonly Uint8Array[];
  readonly range: Range;
}

/** The page of the batches of a column. */
export function pageOf(batches: readonly ColumnValues[]): PageValues {
  const rowCount = batches.reduce((sum, { values }) => sum + values.length, 0);
  // A bit per row, cleared where there is no value.
  const bits = new Uint8Array((rowCount + 7) >> 3).fill(255);
  let first = 0;
  const packed = batches.map((cells) => {
    const { values } = cells;
    const own =
      values instanceof Float64Array ? packDoubles(values, cells, bits, first) : pack(cells, bits, first);
    first += values.length;
    return own;
  });
  const count = packed.reduce((sum, own) => sum + own.count, 0);
  const isFull = count === rowCount;
  const run = Uint8Array.from(isFull ? [...varint(rowCount << 1), 1] : varint((bits.length << 1) | 1));
  const levels = isFull ? run : Buffer.concat([run, bits]);
  return {
    bytes: Buffer.concat([withLength(levels), ...packed.flatMap(({ bytes }) => bytes)]),
    rowCount,
    nullCount: rowCount - count,
    range: rangeOf(packed.flatMap(({ range }) => range ?? [])),
  };
}

/** Integers, times and texts. */
function pack(cells: ColumnValues, bits: Uint8Array, first: number): Packed {
  const { values, labels } = cells;
  const packed = (values as Int32Array).filter((_, row) => {
    const isNull = isNullAt(cells, row);
    if (isNull) clearBit(bits, first + row);
    return !isNull;
  });
  const count = packed.length;
  if (labels === null) return { count, bytes: [bytesOf(packed)], range: rangeOf(packed) };
  const texts = labels.map((label) => withLength(Buffer.from(label)));
  const range = rangeOf([...new Set(packed)].map((code) => Buffer.from(labels[code]!).toString("latin1")));
  return { count, bytes: Array.from(packed, (code) => texts[code]!), range };
}

function packDoubles(
  values: Float64Array,
  { bits: valid, firstBit }: ColumnValues,
  bits: Uint8Array,
  first: number,
): Packed {
  const packed = new Float64Array(values.length);
  let [count, least, greatest] = [0, Infinity, -Infinity];
  for (let row = 0; row < values.length; row += 1) {
    const value = values[row]!;
    const bit = firstBit + row;
    if (Number.isNaN(value) || (valid !== null && (valid[bit >> 3]! & (1 << (bit & 7))) === 0)) {
      clearBit(bits, first + row);
      continue;
    }
    packed[count] = value;
    count += 1;
    if (value < least) least = value;
    if (value > greatest) greatest = value;
  }
  const range: Range = count === 0 ? null : [least, greatest];
  return { count, bytes: [bytesOf(packed.subarray(0, count))], range };
}

function clearBit(bits: Uint8Array, bit: number): void {
  bits[bit >> 3]! &= ~(1 << (bit & 7));
}

function rangeOf(values: ArrayLike<Ordered>): Range {
  if (values.length === 0) return null;
  let [least, greatest] = [values[0]!, values[0]!];
  for (let index = 1; index < values.length; index += 1) {
    const value = values[index]!;
    if (value < least) least = value;
    if (value > greatest) greatest = value;
  }
  return [least, greatest];
}

function withLength(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([bytesOf(Uint32Array.of(bytes.length)), bytes]);
}

export function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}
