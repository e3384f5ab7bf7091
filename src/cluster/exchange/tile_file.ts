import { closeSync, openSync, writeSync } from "node:fs";
import { FileSeal } from "../protocol/file_seal.ts";
import type { ReusedBuffer } from "../protocol/reused_buffer.ts";

/** What is gathered before it is written: it stays in caches on its way from the columns to the file. */
export const ROOM_BYTES = 2 ** 18;

/** A new file that is written anywhere, each place once; what lies together goes out together. It ends with a seal. */
export class TileFile {
  readonly #fd: number;
  readonly #room: ReusedBuffer;
  readonly #seal = new FileSeal();
  /** Position of what is gathered, and how much that is. */
  #start = 0;
  #gathered = 0;
  #isOpen = true;

  /** @param room nobody else uses it before `close` */
  constructor(path: string, room: ReusedBuffer) {
    this.#fd = openSync(path, "wx");
    this.#room = room;
  }

  /** Room for values at a position of the file, to be set before the next call. */
  valuesAt(position: number, count: number): Float64Array {
    const bytes = count * Float64Array.BYTES_PER_ELEMENT;
    if (position !== this.#start + this.#gathered || this.#gathered + bytes > ROOM_BYTES) {
      this.flush();
      this.#start = position;
    }
    const offset = this.#gathered;
    this.#gathered += bytes;
    return new Float64Array(this.#room.bytes(Math.max(ROOM_BYTES, bytes)).buffer, offset, count);
  }

  write(position: number, bytes: Uint8Array): void {
    this.flush();
    this.#put(bytes, position);
  }

  /** Writes what is gathered. */
  flush(): void {
    const bytes = this.#gathered;
    this.#gathered = 0;
    if (bytes > 0) this.#put(this.#room.bytes(bytes), this.#start);
  }

  /** Ends a file whose content has so many bytes. */
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

/** At a position, or where the file stands. */
export function writeAll(fd: number, bytes: Uint8Array, position?: number): void {
  for (let done = 0; done < bytes.length; ) {
    const at = position === undefined ? null : position + done;
    done += writeSync(fd, bytes, done, bytes.length - done, at);
  }
}
