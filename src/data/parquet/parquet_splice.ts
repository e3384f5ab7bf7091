/**
 * Concatenates Parquet files of the same columns: DuckDB writes a file from one query, so that a table larger than memory
 * has to be written in pieces. Copies the row groups unchanged; only the offsets in the footer change.
 */
import {
  readThrift,
  type ThriftField,
  type ThriftList,
  type ThriftStruct,
  TYPE,
  writeThrift,
} from "./thrift_compact.ts";

const MAGIC = Buffer.from("PAR1");
/** Length of the footer, then the magic. */
const SUFFIX_BYTES = 8;

/** Field numbers, from https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift */
export const FILE = { rowCount: 3, rowGroups: 4, keyValues: 5 } as const;
const ROW_GROUP = { columns: 1, rowCount: 3, fileOffset: 5, ordinal: 7 } as const;
const COLUMN_CHUNK = { fileOffset: 2, metadata: 3, offsetIndex: 4, columnIndex: 6 } as const;
const COLUMN = { dataPage: 9, indexPage: 10, dictionaryPage: 11, bloomFilter: 14 } as const;
/** Ordinals are 16-bit and optional; files with more row groups have none. */
const ORDINAL_MAX = 32_767;

export class ParquetSplice {
  /** Bytes of the file so far. */
  #position = MAGIC.length;
  #footer: ThriftStruct | null = null;
  #rowCount = 0n;
  /** Encoded, because a tree of objects would take several times the memory. */
  readonly #rowGroups: Uint8Array[] = [];

  /** The start of the file. */
  get head(): Uint8Array {
    return MAGIC;
  }

  /** The part of a piece that goes into the file. */
  add(piece: Uint8Array): Uint8Array {
    const view = new DataView(piece.buffer, piece.byteOffset, piece.byteLength);
    const footerEnd = piece.length - SUFFIX_BYTES;
    const footerStart = footerEnd - view.getUint32(footerEnd, true);
    const footer = readThrift(piece.subarray(footerStart, footerEnd));
    const shift = BigInt(this.#position - MAGIC.length);
    this.#footer ??= footer;
    this.#rowCount += fieldOf(footer, FILE.rowCount)?.value as bigint;
    for (const group of listOf(footer, FILE.rowGroups)) {
      shiftRowGroup(group as ThriftStruct, shift, this.#rowGroups.length);
      this.#rowGroups.push(writeThrift(group as ThriftStruct));
    }
    const body = piece.subarray(MAGIC.length, footerStart);
    this.#position += body.length;
    return body;
  }

  /** The end of the file, after at least one piece. */
  tail(keyValues: Readonly<Record<string, string>>): Uint8Array {
    const rest = this.#footer!.filter(({ id }) => !(Object.values(FILE) as number[]).includes(id));
    const pairs = Object.entries(keyValues).map(
      ([key, value]): ThriftStruct => [
        { id: 1, type: TYPE.binary, value: Buffer.from(key) },
        { id: 2, type: TYPE.binary, value: Buffer.from(value) },
      ],
    );
    const footer = writeThrift(
      [
        ...rest,
        { id: FILE.rowCount, type: TYPE.i64, value: this.#rowCount },
        { id: FILE.rowGroups, type: TYPE.list, value: { elementType: TYPE.struct, items: this.#rowGroups } },
        { id: FILE.keyValues, type: TYPE.list, value: { elementType: TYPE.struct, items: pairs } },
      ].sort((a, b) => a.id - b.id),
    );
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, footer.length, true);
    return Buffer.concat([footer, length, MAGIC]);
  }
}

function shiftRowGroup(group: ThriftStruct, shift: bigint, ordinal: number): void {
  shiftField(group, ROW_GROUP.fileOffset, shift);
  const ordinalIndex = group.findIndex(({ id }) => id === ROW_GROUP.ordinal);
  if (ordinalIndex >= 0 && ordinal <= ORDINAL_MAX) group[ordinalIndex]!.value = BigInt(ordinal);
  else if (ordinalIndex >= 0) group.splice(ordinalIndex, 1);
  for (const chunk of listOf(group, ROW_GROUP.columns)) {
    for (const id of [COLUMN_CHUNK.fileOffset, COLUMN_CHUNK.offsetIndex, COLUMN_CHUNK.columnIndex]) {
      shiftField(chunk as ThriftStruct, id, shift);
    }
    const metadata = fieldOf(chunk as ThriftStruct, COLUMN_CHUNK.metadata)?.value as ThriftStruct;
    for (const id of Object.values(COLUMN)) shiftField(metadata, id, shift);
  }
}

/** 0 means none: no offset is smaller than the magic. */
function shiftField(struct: ThriftStruct, id: number, shift: bigint): void {
  const field = fieldOf(struct, id);
  if (field !== undefined && field.value !== 0n) field.value = (field.value as bigint) + shift;
}

function fieldOf(struct: ThriftStruct, id: number): ThriftField | undefined {
  return struct.find((field) => field.id === id);
}

function listOf(struct: ThriftStruct, id: number): ThriftList["items"] {
  return (fieldOf(struct, id)?.value as ThriftList | undefined)?.items ?? [];
}
