/** Parquet files byte by byte: types that DuckDB reads and does not write (https://parquet.apache.org/docs/file-format/). */
import { binary, bool, i32, i64, list, struct, type ThriftValue } from "../../src/data/encoders/thrift.ts";

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
  readonly logical?: ThriftValue;
  /** Each value as it stands in the file, without its length; null for null. */
  readonly values: readonly (Uint8Array | null)[];
}

const MAGIC = Buffer.from("PAR1");
const OPTIONAL = 1;
const RLE = 3;

/** The logical type of a decimal. */
export function decimalType(precision: number, scale: number): ThriftValue {
  return struct({ 5: struct({ 1: i32(scale), 2: i32(precision) }) });
}

/** The logical type of a timestamp: its unit is 1 for ms, 2 for us, 3 for ns. */
export function timestampType(unit: 1 | 2 | 3, isUtc: boolean): ThriftValue {
  return struct({ 8: struct({ 1: bool(isUtc), 2: struct({ [unit]: struct({}) }) }) });
}

/** A file with one row group, not compressed. */
export function parquetBytes(
  columns: readonly ParquetColumn[],
  keyValues: Readonly<Record<string, string>> = {},
): Buffer {
  const rowCount = columns[0]!.values.length;
  const parts: Uint8Array[] = [MAGIC];
  let position = MAGIC.length;
  const chunks = columns.map((column) => {
    const page = pageOf(column);
    const start = position;
    parts.push(page);
    position += page.length;
    const metadata = {
      1: i32(column.physical),
      2: list([i32(0), i32(RLE)]),
      3: list([binary(column.name)]),
      4: i32(0),
      5: i64(rowCount),
      6: i64(page.length),
      7: i64(page.length),
      9: i64(start),
    };
    return struct({ 2: i64(start), 3: struct(metadata) });
  });
  const root = struct({ 4: binary("schema"), 5: i32(columns.length) });
  const pairs = Object.entries(keyValues).map(([key, value]) => struct({ 1: binary(key), 2: binary(value) }));
  const footer = struct({
    1: i32(1),
    2: list([root, ...columns.map(schemaElement)]),
    3: i64(rowCount),
    4: list([struct({ 1: list(chunks), 2: i64(position), 3: i64(rowCount) })]),
    5: list(pairs),
  }).bytes;
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return Buffer.concat([...parts, footer, length, MAGIC]);
}

function schemaElement(column: ParquetColumn): ThriftValue {
  const { name, physical, length, converted, scale, precision, logical } = column;
  const number = (value: number | undefined) => (value === undefined ? undefined : i32(value));
  return struct({
    1: i32(physical),
    2: number(length),
    3: i32(OPTIONAL),
    4: binary(name),
    6: number(converted),
    7: number(scale),
    8: number(precision),
    10: logical,
  });
}

function pageOf({ physical, values }: ParquetColumn): Uint8Array {
  const body = Buffer.concat([levelsOf(values), ...plainValues(physical, values)]);
  const dataPage = struct({ 1: i32(values.length), 2: i32(0), 3: i32(RLE), 4: i32(RLE) });
  const header = struct({ 1: i32(0), 2: i32(body.length), 3: i32(body.length), 5: dataPage }).bytes;
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
