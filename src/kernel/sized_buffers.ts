/**
 * Views of every length into the front of some arrays. References are handed arrays of exactly the length that
 * they may read, and those lengths change from cell to cell as nulls are left out; each view is made once,
 * because making one per cell costs about 20 ns and a piece of garbage (measured on Node 26).
 */
export class SizedBuffers {
  readonly #buffers: readonly Float64Array[];
  readonly #views: (readonly Float64Array[] | undefined)[] = [];

  constructor(buffers: readonly Float64Array[]) {
    this.#buffers = buffers;
  }

  /** The first `length` values of each buffer, whatever was last written there. */
  ofLength(length: number): readonly Float64Array[] {
    let views = this.#views[length];
    if (!views) {
      views = this.#buffers.map((buffer) => buffer.subarray(0, length));
      this.#views[length] = views;
    }
    return views;
  }
}
