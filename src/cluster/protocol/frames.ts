import { InternalError } from "../../errors.ts";

/**
 * Frames over a pipe: a record, then buffers. Little-endian:
 *
 *     bytes 0-3  "FLF1"    bytes 4-7  length of the record    bytes 8-11  number of buffers    bytes 12-15  0
 *     then the length of each buffer as Float64, the record as JSON in UTF-8, the buffers one after the other
 */
export const MAGIC = 0x31464c46;
export const HEAD_BYTES = 16;

export interface Frame<Record> {
  readonly record: Record;
  readonly buffers: readonly Uint8Array[];
}

/** The parts of a frame, to be written in order; buffers are not copied. */
export function frameParts(record: object, buffers: readonly Uint8Array[] = []): Uint8Array[] {
  const text = Buffer.from(JSON.stringify(record));
  const head = Buffer.alloc(HEAD_BYTES + 8 * buffers.length + text.length);
  head.writeUInt32LE(MAGIC, 0);
  head.writeUInt32LE(text.length, 4);
  head.writeUInt32LE(buffers.length, 8);
  buffers.forEach((buffer, index) => {
    head.writeDoubleLE(buffer.byteLength, HEAD_BYTES + 8 * index);
  });
  head.set(text, HEAD_BYTES + 8 * buffers.length);
  return [head, ...buffers];
}

/**
 * Reads the next frame of a pipe. @throws InternalError for bytes that are not a frame.
 *
 * @param readExactly reads that number of bytes into memory that is aligned for doubles
 */
export function readFrame<Record>(readExactly: (bytes: number) => Uint8Array): Frame<Record> {
  const first = readExactly(HEAD_BYTES);
  const head = Buffer.from(first.buffer, first.byteOffset, first.byteLength);
  if (head.readUInt32LE(0) !== MAGIC) throw new InternalError("the pipe holds bytes that are not a frame");
  const bufferCount = head.readUInt32LE(8);
  const lengths = readExactly(8 * bufferCount);
  const text = readExactly(head.readUInt32LE(4));
  const buffers = Array.from(new Float64Array(lengths.buffer, lengths.byteOffset, bufferCount), (bytes) =>
    readExactly(bytes),
  );
  return {
    record: JSON.parse(Buffer.from(text.buffer, text.byteOffset, text.length).toString()) as Record,
    buffers,
  };
}
