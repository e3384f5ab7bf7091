import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { InternalError } from "../../errors.ts";
import { type Frame, frameParts, HEAD_BYTES, MAGIC } from "../protocol/frames.ts";

/** Frames of `frames.ts` over the streams of a child process, without blocking the thread. */

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

/** Writes a frame; resolves when the stream accepts more. Buffers must not change before they are written. */
export function writeFrame(
  stream: Writable,
  record: object,
  buffers: readonly Uint8Array[] = [],
): Promise<void> {
  stream.cork();
  for (const part of frameParts(record, buffers)) stream.write(part);
  stream.uncork();
  if (!stream.writableNeedDrain) return Promise.resolve();
  return new Promise((resolve) => {
    const settle = () => {
      stream.off("drain", settle).off("close", settle);
      resolve();
    };
    stream.on("drain", settle).on("close", settle);
  });
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

/** The last lines that came from the streams so far. */
export function keepLastLines(streams: readonly Readable[], most: number): readonly string[] {
  const lines: string[] = [];
  for (const input of streams)
    createInterface({ input }).on("line", (line) => {
      lines.push(line);
      if (lines.length > most) lines.shift();
    });
  return lines;
}
