/**
 * Thrift's compact protocol, in which Parquet writes headers of pages and its footer:
 * https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
 */

/** An encoded value without the header that a struct or a list gives it. */
export interface ThriftValue {
  readonly type: number;
  readonly bytes: Uint8Array;
}

const TYPE = { true: 1, false: 2, i32: 5, i64: 6, binary: 8, list: 9, struct: 12 } as const;
/** A list's header holds its length if it is below this. */
const LONG_LIST = 15;
const NO_BYTES = new Uint8Array(0);

export function varint(value: bigint | number): number[] {
  const bytes: number[] = [];
  let rest = BigInt(value);
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return [...bytes, Number(rest)];
}

function zigzag(value: bigint | number): Uint8Array {
  const wide = BigInt(value);
  return Uint8Array.from(varint(BigInt.asUintN(64, (wide << 1n) ^ (wide >> 63n))));
}

export function i32(value: bigint | number): ThriftValue {
  return { type: TYPE.i32, bytes: zigzag(value) };
}

export function i64(value: bigint | number): ThriftValue {
  return { type: TYPE.i64, bytes: zigzag(value) };
}

export function bool(value: boolean): ThriftValue {
  return { type: value ? TYPE.true : TYPE.false, bytes: NO_BYTES };
}

export function binary(value: Uint8Array | string): ThriftValue {
  const bytes = Buffer.from(value as string);
  return { type: TYPE.binary, bytes: Buffer.concat([Uint8Array.from(varint(bytes.length)), bytes]) };
}

/** A list of values of one type; `struct` if there is none. */
export function list(items: readonly ThriftValue[]): ThriftValue {
  const head = (Math.min(items.length, LONG_LIST) << 4) | (items[0]?.type ?? TYPE.struct);
  const length = items.length < LONG_LIST ? [] : varint(items.length);
  const bytes = Buffer.concat([Uint8Array.of(head, ...length), ...items.map((item) => item.bytes)]);
  return { type: TYPE.list, bytes };
}

/** A struct of fields by number, of which there are at most 15 in a row that it lacks. */
export function struct(fields: Readonly<Record<number, ThriftValue | undefined>>): ThriftValue {
  const parts: Uint8Array[] = [];
  let before = 0;
  for (const [id, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    parts.push(Uint8Array.of(((Number(id) - before) << 4) | value.type), value.bytes);
    before = Number(id);
  }
  return { type: TYPE.struct, bytes: Buffer.concat([...parts, Uint8Array.of(0)]) };
}
