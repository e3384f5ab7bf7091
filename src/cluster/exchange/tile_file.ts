import { closeSync, openSync, writeSync } from "node:fs";
import { FileSeal } from "../protocol/file_seal.ts";
import type { ReusedBuffer } from "../protocol/reused_buffer.ts";

/** Bytes that are gathered before a write: they stay in caches between the columns and the file. */
export const BUFFER_BYTES = 2 ** 18;

/** A new file whose parts are written in any order, each once. Gathers contiguous parts into one write; ends with a seal. */
export class TileFile {
  readonly #fd: number;
  readonly #buffer: ReusedBuffer;
  readonly #seal = new FileSeal();
  /** Position and length of the gathered bytes. */
  #start = 0;
  #gathered = 0;
  #isOpen = true;

  /** @param buffer no other code may use it before `close` */
  constructor(path: string, buffer: ReusedBuffer) {
    this.#fd = openSync(path, "wx");
    this.#buffer = buffer;
  }

  /** The memory for values at a position of the file, to be set before the next call. */
  valuesAt(position: number, count: number): Float64Array {
    const bytes = count * Float64Array.BYTES_PER_ELEMENT;
    if (position !== this.#start + this.#gathered || this.#gathered + bytes > BUFFER_BYTES) {
      this.flush();
      this.#start = position;
    }
    const offset = this.#gathered;
    this.#gathered += bytes;
    return new Float64Array(this.#buffer.bytes(Math.max(BUFFER_BYTES, bytes)).buffer, offset, count);
  }

  write(position: number, bytes: Uint8Array): void {
    this.flush();
    this.#put(bytes, position);
  }

  /** Writes the gathered bytes. */
  flush(): void {
    const bytes = this.#gathered;
    this.#gathered = 0;
    if (bytes > 0) this.#put(this.#buffer.bytes(bytes), this.#start);
  }

  /** Writes the seal after `length` bytes of content, and closes the file. */
  finish(length: number, owner: string): void {
    this.flush();
    writeAll(this.#fd, this.#seal.bytes(owner), length);
    this.close();
  }

  /** Does nothing the second time. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.#fd);
  }

  #put(bytes: Uint8Array, position: number): void {
    this.#seal.add(position, bytes);
    writeAll(this.#fd, bytes, position);
  }
}

/** Writes all bytes at a position, or at the current one. */
function writeAll(fd: number, bytes: Uint8Array, position?: number): void {
  for (let done = 0; done < bytes.length; ) {
    const at = position === undefined ? null : position + done;
    done += writeSync(fd, bytes, done, bytes.length - done, at);
  }
}
