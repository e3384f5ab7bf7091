/**
 * Reads Arrow IPC, file or stream, batch by batch, with at most one record batch in memory. Reading is synchronous, because
 * DuckDB requests rows in a synchronous callback.
 */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { zstdDecompressSync } from "node:zlib";
import {
  CompressionType,
  compressionRegistry,
  type RecordBatch,
  RecordBatchReader,
  RecordBatchStreamWriter,
  type Schema,
  Table,
  tableFromIPC,
  type Vector,
} from "apache-arrow";
import { type FileBlock, Footer } from "apache-arrow/ipc/metadata/file";
import { decodeLz4Frame } from "./lz4_frame.ts";

const MAGIC = "ARROW1";
/** The magic and its padding, before the first message of a file. */
const PREFIX_BYTES = 8;
/** Length of the footer (4 bytes) and the magic, at the end of a file. */
const SUFFIX_BYTES = 10;
const STREAM_CHUNK_BYTES = 1024 * 1024;
/** The library requests the next block before it returns the batch of the previous one. */
const BATCHES_HELD = 2;
/** Linux reads at most 2 GiB at once. */
const READ_BYTES_MAX = 2 ** 30;

export interface ArrowFile {
  readonly schema: Schema;
  /** All dictionaries of a file by id; null for a stream, whose dictionaries may change between batches. */
  readonly dictionaries: ReadonlyMap<number, Vector> | null;
  /** Number of record batches; null for a stream. */
  readonly batchCount: number | null;
  /**
   * Reads the record batches, or in a file those at the given ascending indices, as they are requested. A batch is valid
   * until the next one is requested.
   */
  batches(indices?: readonly number[]): Iterable<RecordBatch>;
}

/** Bytes in the format of a stream. */
type ByteSource = () => Generator<Uint8Array, void, number | undefined>;

/**
 * Opens an Arrow IPC file or stream.
 *
 * @throws Error if it is neither.
 */
export function openArrowFile(path: string): ArrowFile {
  registerCodecs();
  const byteCount = statSync(path).size;
  const start = readRange(path, 0, Math.min(byteCount, PREFIX_BYTES));
  const isFile = start.toString("latin1", 0, MAGIC.length) === MAGIC;
  return isFile ? openFile(path, byteCount) : openStream(path, byteCount);
}

/** Reads Arrow IPC, file or stream, in memory. @throws Error if it is neither. */
export function tableOfBytes(bytes: Uint8Array): Table {
  registerCodecs();
  // Columns are views of the bytes, which must be aligned; buffers of Node's pool are not.
  return tableFromIPC(bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes));
}

function openStream(path: string, byteCount: number): ArrowFile {
  const bytes = () => readStream(path, byteCount);
  return {
    schema: readerOf(bytes).schema,
    dictionaries: null,
    batchCount: null,
    batches: () => readerOf(bytes),
  };
}

/**
 * Reads a file as the stream of its schema, dictionaries and batches, located by the footer. The schema is that of the
 * footer: some writers omit the message at the start of a file, or its length.
 */
function openFile(path: string, byteCount: number): ArrowFile {
  const footer = readFooter(path, byteCount);
  const dictionaries = [...footer.dictionaryBatches()];
  const batches = [...footer.recordBatches()];
  const head = encodeSchemaMessage(footer.schema);
  const source = (blocks: readonly FileBlock[]): ByteSource => {
    return function* () {
      yield head;
      yield* readBlocks(path, dictionaries);
      yield* readBlocksInPlace(path, blocks);
    };
  };
  const reader = readerOf(source([]));
  reader.next(); // skips the dictionaries
  return {
    schema: footer.schema,
    dictionaries: reader.dictionaries,
    batchCount: batches.length,
    batches: (indices) => {
      const wanted = indices?.map((index) => batches[index]!) ?? batches;
      return wanted.length === 0 ? [] : readerOf(source(wanted));
    },
  };
}

function readFooter(path: string, byteCount: number): Footer {
  const suffix = readRange(path, Math.max(0, byteCount - SUFFIX_BYTES), SUFFIX_BYTES);
  const length = suffix.readInt32LE(0);
  const start = byteCount - SUFFIX_BYTES - length;
  if (suffix.toString("latin1", 4) !== MAGIC || length <= 0 || start < PREFIX_BYTES) {
    throw new Error("it does not end like an Arrow file");
  }
  return Footer.decode(readRange(path, start, length));
}

/** An IPC message that holds the schema. */
export function encodeSchemaMessage(schema: Schema): Uint8Array {
  const stream = RecordBatchStreamWriter.writeAll(new Table(schema)).toUint8Array(true);
  const view = new DataView(stream.buffer, stream.byteOffset, stream.byteLength);
  const prefixBytes = 8; // a marker and the length, 4 bytes each
  return stream.subarray(0, prefixBytes + view.getInt32(4, true));
}

function readerOf(source: ByteSource): RecordBatchReader {
  const reader = RecordBatchReader.from(source()).open();
  if (reader.schema === undefined) throw new Error("it has no schema");
  return reader;
}

function* readBlocks(path: string, blocks: readonly FileBlock[]): Generator<Uint8Array> {
  for (const { offset, metaDataLength, bodyLength } of blocks) {
    yield readRange(path, offset, metaDataLength + bodyLength);
  }
}

/** The same in alternating buffers: allocating for each block took half of the time of reading. */
function* readBlocksInPlace(path: string, blocks: readonly FileBlock[]): Generator<Uint8Array> {
  const memories = Array.from({ length: BATCHES_HELD }, () => new ArrayBuffer(0));
  for (const [index, { offset, metaDataLength, bodyLength }] of blocks.entries()) {
    const length = metaDataLength + bodyLength;
    const turn = index % BATCHES_HELD;
    if (memories[turn]!.byteLength < length) memories[turn] = new ArrayBuffer(length);
    yield readInto(Buffer.from(memories[turn]!, 0, length), path, offset);
  }
}

/** The bytes of a stream, in pieces of about the size that the reader requests. */
function* readStream(path: string, byteCount: number): Generator<Uint8Array, void, number | undefined> {
  let wanted: number | undefined;
  for (let at = 0; at < byteCount; ) {
    const length = Math.min(Math.max(wanted || 0, STREAM_CHUNK_BYTES), byteCount - at);
    wanted = yield readRange(path, at, length);
    at += length;
  }
}

function readRange(path: string, start: number, length: number): Buffer {
  return readInto(Buffer.from(new ArrayBuffer(length)), path, start); // Node's pool lacks the 8-byte alignment
}

/** Opens the file for each read: DuckDB does not report when it stops a scan early. */
function readInto(bytes: Buffer, path: string, start: number): Buffer {
  const fd = openSync(path, "r");
  try {
    for (let filled = 0; filled < bytes.length; ) {
      const length = Math.min(bytes.length - filled, READ_BYTES_MAX);
      const count = readSync(fd, bytes, filled, length, start + filled);
      if (count === 0) throw new Error("it ends too early");
      filled += count;
    }
  } finally {
    closeSync(fd);
  }
  return bytes;
}

/** Registers decoders, which Arrow does not include; keeps decoders that are registered already. */
function registerCodecs(): void {
  const decoders = [
    [CompressionType.ZSTD, (bytes: Uint8Array) => new Uint8Array(zstdDecompressSync(bytes))],
    [CompressionType.LZ4_FRAME, decodeLz4Frame],
  ] as const;
  for (const [type, decode] of decoders) {
    const codec = compressionRegistry.get(type);
    if (codec?.decode === undefined) compressionRegistry.set(type, { ...codec, decode });
  }
}
