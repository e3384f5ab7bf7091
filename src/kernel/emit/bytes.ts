/** Growth factor of the buffer: large, since bytes are soon copied to their place and the buffer is dropped. */
const GROWTH = 4;

/** A growing buffer with the integer encoding of WebAssembly (LEB128). */
export class Bytes {
  #buffer: Uint8Array<ArrayBuffer> = new Uint8Array(256);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  view(): Uint8Array<ArrayBuffer> {
    return this.#buffer.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#length++] = value;
  }

  append(bytes: ArrayLike<number>): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  unsigned(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.byte((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.byte(rest);
  }

  signed(value: number): void {
    let rest = value;
    for (;;) {
      const low = rest & 0x7f;
      rest >>= 7;
      const isLast = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0);
      this.byte(isLast ? low : low | 0x80);
      if (isLast) return;
    }
  }

  signed64(value: bigint): void {
    let rest = value;
    for (;;) {
      const low = Number(rest & 0x7fn);
      rest >>= 7n;
      const isLast = (rest === 0n && (low & 0x40) === 0) || (rest === -1n && (low & 0x40) !== 0);
      this.byte(isLast ? low : low | 0x80);
      if (isLast) return;
    }
  }

  double(value: number): void {
    this.append(new Uint8Array(Float64Array.of(value).buffer));
  }

  /** A name, or other bytes preceded by their length. */
  counted(bytes: Uint8Array): void {
    this.unsigned(bytes.length);
    this.append(bytes);
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#buffer.length) return;
    const grown = new Uint8Array(Math.max(GROWTH * this.#buffer.length, this.#length + count));
    grown.set(this.#buffer);
    this.#buffer = grown;
  }
}
