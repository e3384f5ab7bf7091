/** Parts of a checkpoint begin at multiples of 8. */
const ALIGNMENT = 8;

/** Reads parts one after the other. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** A copy of the next bytes; passes over those that fill up. @throws RangeError if there are fewer. */
  take(length: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.view(length));
  }

  /** The same without a copy. */
  view(length: number): Uint8Array {
    const end = this.#at + length;
    if (!(end >= this.#at && end <= this.#bytes.length)) throw new RangeError("it ends early");
    const found = this.#bytes.subarray(this.#at, end);
    this.#at = Math.min(this.#bytes.length, ALIGNMENT * Math.ceil(end / ALIGNMENT));
    return found;
  }

  /** What `paddedText` has written. @throws RangeError, SyntaxError */
  text(): unknown {
    const head = this.take(ALIGNMENT);
    const length = new DataView(head.buffer).getUint32(0, true);
    return JSON.parse(Buffer.from(this.view(length)).toString());
  }
}

/** A text of JSON with its length before it. */
export function paddedText(json: string): Uint8Array {
  const text = Buffer.from(json);
  const bytes = new Uint8Array(ALIGNMENT * (1 + Math.ceil(text.length / ALIGNMENT)));
  new DataView(bytes.buffer).setUint32(0, text.length, true);
  bytes.set(text, ALIGNMENT);
  return bytes;
}
