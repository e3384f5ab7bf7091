/** Bytes of the length that stands before a text. */
const LENGTH_BYTES = 4;

/** Reads parts one after the other. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** A copy of the next bytes. */
  take(length: number): Uint8Array<ArrayBuffer> {
    const start = this.#at;
    this.#at += length;
    return new Uint8Array(this.#bytes.subarray(start, this.#at));
  }

  /** The value that `jsonPiece` has written. */
  json(): unknown {
    const length = new DataView(this.take(LENGTH_BYTES).buffer).getUint32(0, true);
    return JSON.parse(Buffer.from(this.take(length).buffer).toString());
  }
}

export const byteCount = (pieces: readonly Uint8Array[]) =>
  pieces.reduce((sum, { length }) => sum + length, 0);

/** A value as JSON, with the length of its bytes before it. */
export function jsonPiece(value: unknown): Uint8Array {
  const json = JSON.stringify(value);
  const bytes = Buffer.alloc(LENGTH_BYTES + Buffer.byteLength(json));
  bytes.writeUInt32LE(bytes.length - LENGTH_BYTES);
  bytes.write(json, LENGTH_BYTES);
  return bytes;
}
