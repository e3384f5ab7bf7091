/** Parquet files byte by byte: types that DuckDB reads and does not write (https://parquet.apache.org/docs/file-format/). */
import {
  type ThriftStruct,
  type ThriftValue,
  TYPE,
  writeThrift,
} from "../../src/data/parquet/thrift_compact.ts";

export const PHYSICAL = {
  boolean: 0,
  int32: 1,
  int64: 2,
  int96: 3,
  float: 4,
  double: 5,
  bytes: 6,
  fixed: 7,
} as const;
export const CONVERTED = { utf8: 0, decimal: 5, uint64: 14 } as const;

export interface ParquetColumn {
  readonly name: string;
  readonly physical: number;
  /** Bytes of a value of `fixed`. */
  readonly length?: number;
  readonly converted?: number;
  readonly scale?: number;
  readonly precision?: number;
  readonly logical?: ThriftStruct;
  /** Each value as it stands in the file, without its length; null for null. */
  readonly values: readonly (Uint8Array | null)[];
}

const MAGIC = Buffer.from("PAR1");
const OPTIONAL = 1;
const RLE = 3n;

const i32 = (id: number, value: number | bigint) => ({ id, type: TYPE.i32, value: BigInt(value) });
const i64 = (id: number, value: number | bigint) => ({ id, type: TYPE.i64, value: BigInt(value) });
const text = (id: number, value: string) => ({ id, type: TYPE.binary, value: Buffer.from(value) });
const struct = (id: number, value: ThriftStruct) => ({ id, type: TYPE.struct, value });
const list = (id: number, elementType: number, items: ThriftValue[]) => {
  return { id, type: TYPE.list, value: { elementType, items } };
};

/** The logical type of a decimal. */
export function decimalType(precision: number, scale: number): ThriftStruct {
  return [struct(5, [i32(1, scale), i32(2, precision)])];
}

/** The logical type of a timestamp: its unit is 1 for ms, 2 for us, 3 for ns. */
export function timestampType(unit: 1 | 2 | 3, isUtc: boolean): ThriftStruct {
  return [
    struct(8, [{ id: 1, type: isUtc ? TYPE.true : TYPE.false, value: isUtc }, struct(2, [struct(unit, [])])]),
  ];
}

/** A file with one row group, not compressed. */
export function parquetBytes(
  columns: readonly ParquetColumn[],
  keyValues: Readonly<Record<string, string>> = {},
): Buffer {
  const rowCount = columns[0]!.values.length;
  const parts: Uint8Array[] = [MAGIC];
  let position = MAGIC.length;
  const chunks = columns.map((column): ThriftStruct => {
    const page = pageOf(column);
    const start = position;
    parts.push(page);
    position += page.length;
    const metadata = [
      i32(1, column.physical),
      list(2, TYPE.i32, [0n, RLE]),
      list(3, TYPE.binary, [Buffer.from(column.name)]),
      i32(4, 0),
      i64(5, rowCount),
      i64(6, page.length),
      i64(7, page.length),
      i64(9, start),
    ];
    return [i64(2, start), struct(3, metadata)];
  });
  const root = [text(4, "schema"), i32(5, columns.length)];
  const pairs = Object.entries(keyValues).map(([key, value]) => [text(1, key), text(2, value)]);
  const footer = writeThrift([
    i32(1, 1),
    list(2, TYPE.struct, [root, ...columns.map(schemaElement)]),
    i64(3, rowCount),
    list(4, TYPE.struct, [[list(1, TYPE.struct, chunks), i64(2, position), i64(3, rowCount)]]),
    list(5, TYPE.struct, pairs),
  ]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return Buffer.concat([...parts, footer, length, MAGIC]);
}

function schemaElement({
  name,
  physical,
  length,
  converted,
  scale,
  precision,
  logical,
}: ParquetColumn): ThriftStruct {
  return [
    i32(1, physical),
    ...(length === undefined ? [] : [i32(2, length)]),
    i32(3, OPTIONAL),
    text(4, name),
    ...(converted === undefined ? [] : [i32(6, converted)]),
    ...(scale === undefined ? [] : [i32(7, scale)]),
    ...(precision === undefined ? [] : [i32(8, precision)]),
    ...(logical === undefined ? [] : [struct(10, logical)]),
  ];
}

function pageOf({ physical, values }: ParquetColumn): Uint8Array {
  const body = Buffer.concat([levelsOf(values), ...plainValues(physical, values)]);
  const dataPage = [i32(1, values.length), i32(2, 0), i32(3, RLE), i32(4, RLE)];
  const header = writeThrift([i32(1, 0), i32(2, body.length), i32(3, body.length), struct(5, dataPage)]);
  return Buffer.concat([header, body]);
}

/** One bit per value, 1 where it is not null: bit-packed in groups of eight, of which there are at most 63 here. */
function levelsOf(values: ParquetColumn["values"]): Uint8Array {
  const groupCount = Math.ceil(values.length / 8);
  if (groupCount > 63) throw new Error("too many values for a test's file");
  const bits = Buffer.alloc(groupCount);
  for (const [row, value] of values.entries()) if (value !== null) bits[row >> 3]! |= 1 << (row & 7);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(1 + groupCount);
  return Buffer.concat([length, Buffer.of((groupCount << 1) | 1), bits]);
}

function plainValues(physical: number, values: ParquetColumn["values"]): Uint8Array[] {
  const given = values.filter((value) => value !== null);
  if (physical === PHYSICAL.boolean) {
    const bits = Buffer.alloc(Math.ceil(given.length / 8));
    for (const [row, value] of given.entries()) if (value[0] === 1) bits[row >> 3]! |= 1 << (row & 7);
    return [bits];
  }
  if (physical !== PHYSICAL.bytes) return given;
  return given.flatMap((value) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(value.length);
    return [length, value];
  });
}

/** A big-endian whole number of a number of bytes, as in decimals. */
export function bigEndian(value: bigint, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let at = length - 1, rest = value; at >= 0; at -= 1, rest >>= 8n) bytes[at] = Number(rest & 0xffn);
  return bytes;
}

/** The same with the least significant byte first, as integers are. */
export function littleEndian(value: bigint, length: number): Uint8Array {
  return bigEndian(value, length).reverse();
}
