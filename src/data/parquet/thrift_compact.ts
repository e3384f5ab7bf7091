/**
 * Thrift's compact protocol, in which Parquet writes its footer: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
 * Reads and writes structs without interpreting their fields.
 */

export const TYPE = {
  true: 1,
  false: 2,
  byte: 3,
  i16: 4,
  i32: 5,
  i64: 6,
  double: 7,
  binary: 8,
  list: 9,
  struct: 12,
} as const;
const TYPE_SET = 10;
const DOUBLE_BYTES = 8;
/** A list header holds its length if it is below this. */
const LONG_LIST = 15;

export interface ThriftField {
  readonly id: number;
  readonly type: number;
  /** Integers as bigint; doubles and the bytes of a struct that was written before as they are. */
  value: ThriftValue;
}
export type ThriftStruct = ThriftField[];
export interface ThriftList {
  readonly elementType: number;
  readonly items: ThriftValue[];
}
export type ThriftValue = bigint | boolean | Uint8Array | ThriftList | ThriftStruct;

/** Reads the struct that the bytes start with. @throws Error for types that Parquet does not use. */
export function readThrift(bytes: Uint8Array): ThriftStruct {
  let position = 0;
  const readByte = () => {
    const byte = bytes[position++];
    if (byte === undefined) throw new Error("the footer ends too early");
    return byte;
  };
  const readVarint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = readByte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const readZigzag = () => {
    const value = readVarint();
    return (value >> 1n) ^ -(value & 1n);
  };
  const readBytes = (length: number) => {
    position += length;
    return bytes.subarray(position - length, position);
  };
  const readList = (): ThriftList => {
    const header = readByte();
    const length = header >> 4 === LONG_LIST ? Number(readVarint()) : header >> 4;
    const elementType = header & 0x0f;
    const isBoolean = elementType === TYPE.true || elementType === TYPE.false;
    const read = () => (isBoolean ? readByte() === TYPE.true : readValue(elementType));
    return { elementType, items: Array.from({ length }, read) };
  };
  const readStruct = (): ThriftStruct => {
    const fields: ThriftStruct = [];
    let id = 0;
    for (;;) {
      const header = readByte();
      if (header === 0) return fields;
      id = header >> 4 === 0 ? Number(readZigzag()) : id + (header >> 4);
      fields.push({ id, type: header & 0x0f, value: readValue(header & 0x0f) });
    }
  };
  const readValue = (type: number): ThriftValue => {
    if (type === TYPE.true || type === TYPE.false) return type === TYPE.true;
    if (type === TYPE.byte) return BigInt(readByte());
    if (type === TYPE.i16 || type === TYPE.i32 || type === TYPE.i64) return readZigzag();
    if (type === TYPE.double) return readBytes(DOUBLE_BYTES);
    if (type === TYPE.binary) return readBytes(Number(readVarint()));
    if (type === TYPE.list || type === TYPE_SET) return readList();
    if (type === TYPE.struct) return readStruct();
    throw new Error(`the footer has a value of Thrift type ${type}`);
  };
  return readStruct();
}

/** The bytes of the struct. */
export function writeThrift(struct: ThriftStruct): Uint8Array {
  const bytes: number[] = [];
  const parts: Uint8Array[] = [];
  const writeBytes = (chunk: Uint8Array) => {
    parts.push(Uint8Array.from(bytes.splice(0)), chunk);
  };
  const writeVarint = (value: bigint) => {
    let rest = value;
    for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    bytes.push(Number(rest));
  };
  const writeZigzag = (value: bigint) => writeVarint(BigInt.asUintN(64, (value << 1n) ^ (value >> 63n)));
  const writeList = ({ elementType, items }: ThriftList) => {
    bytes.push((Math.min(items.length, LONG_LIST) << 4) | elementType);
    if (items.length >= LONG_LIST) writeVarint(BigInt(items.length));
    for (const item of items) {
      if (typeof item === "boolean") bytes.push(item ? TYPE.true : TYPE.false);
      else writeValue(elementType, item);
    }
  };
  const writeStruct = (fields: ThriftStruct) => {
    let before = 0;
    for (const { id, type, value } of fields) {
      const delta = id - before;
      if (delta > 0 && delta <= 15) bytes.push((delta << 4) | type);
      else {
        bytes.push(type);
        writeZigzag(BigInt(id));
      }
      before = id;
      writeValue(type, value);
    }
    bytes.push(0);
  };
  const writeValue = (type: number, value: ThriftValue) => {
    if (typeof value === "boolean") return; // the type contains the value
    if (typeof value === "bigint") type === TYPE.byte ? bytes.push(Number(value)) : writeZigzag(value);
    else if (value instanceof Uint8Array) {
      if (type === TYPE.binary) writeVarint(BigInt(value.length));
      writeBytes(value);
    } else if (Array.isArray(value)) writeStruct(value);
    else writeList(value);
  };
  writeStruct(struct);
  writeBytes(new Uint8Array(0));
  return Buffer.concat(parts);
}
