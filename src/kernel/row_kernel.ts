import type { RowBuilder } from "../operator/lowering.ts";
import { emitRank, RANK_LANES_MAX, rankScratch } from "./rows/rank.ts";
import type { Code } from "./wasm/code.ts";
import type { Signature } from "./wasm/module.ts";

/** Addresses of the row in each argument's column, then of the row of the result. */
export function rowSignature(argumentCount: number): Signature {
  return { parameters: Array.from({ length: argumentCount + 1 }, () => "i32" as const), results: [] };
}

/** Emits the kernel of one row node: a function that computes one row. */
export class RowKernel implements RowBuilder {
  readonly #code: Code;
  readonly #laneCount: number;
  readonly #scratchByteOffset: number;
  /** Bytes of scratch space that the kernel needs behind the offset. */
  scratchBytes = 0;

  constructor(code: Code, laneCount: number, scratchByteOffset: number) {
    this.#code = code;
    this.#laneCount = laneCount;
    this.#scratchByteOffset = scratchByteOffset;
  }

  relativeRanks(): boolean {
    if (this.#laneCount > RANK_LANES_MAX) return false;
    const scratch = rankScratch(this.#scratchByteOffset, this.#laneCount);
    this.scratchBytes = scratch.bytes;
    emitRank(this.#code, this.#laneCount, scratch);
    return true;
  }
}
