/** A finished buffer that waits to be read: it may be spilled to disk meanwhile. */
export interface RetainedBuffer {
  readonly byteLength: number;
  /** Writes the bytes to disk, unless they are there, and frees the memory. Never rejects: its owner handles errors. */
  spill(): Promise<void>;
}

/** Buffers that wait to be read, in memory or on disk. */
export class RetainedBuffers {
  /** The least recently used one first. */
  readonly #buffers = new Set<RetainedBuffer>();
  #bytes = 0;
  #spilledBytes = 0;
  #spilledBytesTotal = 0;
  #spilling: Promise<void> | null = null;

  /** Bytes in memory. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes on disk. */
  get spilledBytes(): number {
    return this.#spilledBytes;
  }

  /** Bytes ever written to disk. */
  get spilledBytesTotal(): number {
    return this.#spilledBytesTotal;
  }

  get isSpilling(): boolean {
    return this.#spilling !== null;
  }

  /** Counts the buffer as the most recently used one in memory. */
  retain(buffer: RetainedBuffer): void {
    this.letGo(buffer);
    this.#buffers.add(buffer);
    this.#bytes += buffer.byteLength;
  }

  /** The buffer is not in memory any more; does nothing for one that is not. */
  letGo(buffer: RetainedBuffer): void {
    if (this.#buffers.delete(buffer)) this.#bytes -= buffer.byteLength;
  }

  noteSpilled(bytes: number): void {
    this.#spilledBytes += bytes;
    this.#spilledBytesTotal += bytes;
  }

  noteDiscarded(bytes: number): void {
    this.#spilledBytes -= bytes;
  }

  /** Spills one after the other as long as `isOver` is true of the bytes that were spilled, then calls `onEnd`. */
  spillWhile(isOver: (spilledBytes: number) => boolean, onEnd: (spilledBytes: number) => void): void {
    if (this.#spilling || this.#buffers.size === 0 || !isOver(0)) return;
    this.#spilling = this.#spill(isOver, onEnd);
  }

  async #spill(
    isOver: (spilledBytes: number) => boolean,
    onEnd: (spilledBytes: number) => void,
  ): Promise<void> {
    let spilledBytes = 0;
    try {
      for (const oldest of this.#buffers) {
        if (!isOver(spilledBytes)) break;
        await oldest.spill();
        this.letGo(oldest);
        spilledBytes += oldest.byteLength;
      }
    } finally {
      this.#spilling = null;
      onEnd(spilledBytes);
    }
  }
}
