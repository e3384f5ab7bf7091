import { InternalError } from "../../../errors.ts";
import { LINE_BYTES, wholeLines } from "../../../plan/cache_lines.ts";
import type { Code } from "../../emit/code.ts";
import { Expression, type I32 } from "../../emit/expressions.ts";
import { SCRATCH_GLOBAL } from "../../emit/module.ts";

/** Parts are not a multiple of 4 KiB apart: loads from one would wait for stores to another. */
const GAP_BYTES = 5 * LINE_BYTES;

/**
 * The scratch space of the row kernels of a plan, laid out while they are compiled. Kernels share a part by asking for
 * it under the same name; what a kernel keeps from row to row is in a part shared with its own kind only. Each executor
 * has its own scratch space, zero at first.
 */
export class RowScratch {
  readonly #parts = new Map<string, { readonly offset: number; readonly bytes: number }>();
  #end: number;

  constructor(firstByte: number) {
    this.#end = firstByte;
  }

  /** Offset of a part from the address of the executor's scratch space; all who ask for it state the same size. */
  part(name: string, bytes: number): number {
    const known = this.#parts.get(name);
    if (known) {
      if (known.bytes !== bytes) throw new InternalError(`"${name}" has ${known.bytes} bytes, not ${bytes}`);
      return known.offset;
    }
    const offset = wholeLines(this.#end);
    this.#parts.set(name, { offset, bytes });
    this.#end = offset + bytes + GAP_BYTES;
    return offset;
  }

  get bytes(): number {
    return this.#end;
  }
}

/** The address of the executor's scratch space. */
export function scratchAddress(code: Code): I32 {
  return new Expression(code, "i32", () => code.getGlobal(SCRATCH_GLOBAL));
}
