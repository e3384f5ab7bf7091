import { LINE_BYTES, wholeLines } from "../../plan/cache_lines.ts";

/** Parts are not a multiple of 4 KiB apart: loads from one would wait for stores to another. */
const GAP_BYTES = 5 * LINE_BYTES;

/**
 * The scratch space of the row kernels of a plan, laid out while they are compiled. Kernels share a part by asking for
 * it under the same name; what a kernel keeps from row to row is in a part shared with its own kind only. Each executor
 * has its own scratch space, zero at first.
 */
export class RowScratch {
  readonly #offsets = new Map<string, number>();
  #end: number;

  constructor(firstByte: number) {
    this.#end = firstByte;
  }

  /** Offset of a part from the address of the executor's scratch space. */
  part(name: string, bytes: number): number {
    const known = this.#offsets.get(name);
    if (known !== undefined) return known;
    const offset = wholeLines(this.#end);
    this.#offsets.set(name, offset);
    this.#end = offset + bytes + GAP_BYTES;
    return offset;
  }

  get bytes(): number {
    return this.#end;
  }
}
