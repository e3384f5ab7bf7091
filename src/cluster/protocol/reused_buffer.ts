import { memoryShort } from "../../evaluation/memory/memory_need.ts";

/**
 * Memory that is reused: each fresh page costs a page fault, as much as the copy that fills it. A view is valid until the
 * next one is requested.
 */
export class ReusedBuffer {
  #buffer = new ArrayBuffer(0);

  bytes(count: number): Uint8Array<ArrayBuffer> {
    this.#grow(count);
    return new Uint8Array(this.#buffer, 0, count);
  }

  doubles(count: number): Float64Array<ArrayBuffer> {
    this.#grow(count * Float64Array.BYTES_PER_ELEMENT);
    return new Float64Array(this.#buffer, 0, count);
  }

  /** @throws ResourceError E401 if the system refuses the memory. */
  #grow(bytes: number): void {
    if (bytes <= this.#buffer.byteLength) return;
    const length = Math.ceil(bytes / Float64Array.BYTES_PER_ELEMENT) * Float64Array.BYTES_PER_ELEMENT;
    try {
      this.#buffer = new ArrayBuffer(length);
    } catch (cause) {
      const message = `the system refused ${length} bytes for a tile`;
      throw memoryShort(message, "use fewer rows or symbols per task", cause);
    }
  }
}
