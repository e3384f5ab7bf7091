import type { Readable, Writable } from "node:stream";
import { InternalError } from "../../errors.ts";

/**
 * Frames over a pipe: a record, then buffers. Little-endian:
 *
 *     bytes 0-3  "FLF1"    bytes 4-7  length of the record    bytes 8-11  number of buffers    bytes 12-15  0
 *     then the length of each buffer as Float64, the record as JSON in UTF-8, the buffers one after the other
 */
const MAGIC = 0x31464c46;
const HEAD_BYTES = 16;

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

/** The frames of a stream until it ends, maybe within a frame. @throws InternalError for bytes that are not a frame. */
export async function* readFrames<Record>(stream: Readable): AsyncGenerator<Frame<Record>> {
  const bytes = new ByteReader(stream);
  for (;;) {
    const head = await bytes.read(HEAD_BYTES);
    if (head === null) return;
    const view = new DataView(head.buffer);
    if (view.getUint32(0, true) !== MAGIC)
      throw new InternalError("the pipe holds bytes that are not a frame");
    const lengths = await bytes.read(8 * view.getUint32(8, true));
    const text = await bytes.read(view.getUint32(4, true));
    if (lengths === null || text === null) return;
    const buffers: Uint8Array[] = [];
    for (const length of new Float64Array(lengths.buffer)) {
      const buffer = await bytes.read(length);
      if (buffer === null) return;
      buffers.push(buffer);
    }
    yield { record: JSON.parse(new TextDecoder().decode(text)) as Record, buffers };
  }
}

/** Writes a frame, whose buffers must not change before they are written. */
export function writeFrame(stream: Writable, record: object, buffers: readonly Uint8Array[] = []): void {
  stream.cork();
  for (const part of frameParts(record, buffers)) stream.write(part);
  stream.uncork();
}

/** Reads a stream by numbers of bytes, copying each chunk once. */
class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #chunk: Uint8Array = new Uint8Array(0);

  constructor(stream: Readable) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  /** The next `count` bytes, in their own ArrayBuffer; null if the stream ends before. */
  async read(count: number): Promise<Uint8Array<ArrayBuffer> | null> {
    const bytes = new Uint8Array(count);
    let at = 0;
    while (at < count) {
      if (this.#chunk.length === 0) {
        const { value, done } = await this.#chunks.next();
        if (done) return null;
        this.#chunk = value;
      }
      const taken = this.#chunk.subarray(0, count - at);
      bytes.set(taken, at);
      at += taken.length;
      this.#chunk = this.#chunk.subarray(taken.length);
    }
    return bytes;
  }
}
