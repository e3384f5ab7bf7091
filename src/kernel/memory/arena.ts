import type { Ring } from "../../operator/window_code.ts";
import type { Plan } from "../../plan/plan.ts";
import { VALUE_BYTES } from "./vectors.ts";

/** Typed access to the arena and the columns of a plan. Positions count doubles, not bytes. */
export class Arena {
  readonly values: Float64Array<SharedArrayBuffer>;
  readonly #plan: Plan;

  constructor(plan: Plan, memory: WebAssembly.Memory) {
    this.#plan = plan;
    this.values = new Float64Array(memory.buffer);
  }

  /** Start of a column's row; a future or overwritten row shares another row's slot. */
  rowStart(column: number, row: number): number {
    return this.ringStart(this.#plan.columns[column]!, row);
  }

  /** Start of the slot that a row has in a ring. */
  ringStart({ byteOffset, ringRows }: Pick<Ring, "byteOffset" | "ringRows">, row: number): number {
    const slot = row % ringRows;
    return (byteOffset + (slot < 0 ? slot + ringRows : slot) * this.#plan.rowBytes) / VALUE_BYTES;
  }

  historyRows(column: number): number {
    return this.#plan.columns[column]!.historyRows;
  }

  /**
   * Copies the cells of one lane from `firstRow` on, oldest first, to the start of `target`; far faster than `cell`.
   */
  copyLane(column: number, firstRow: number, count: number, lane: number, target: Float64Array): void {
    const { ringRows, byteOffset } = this.#plan.columns[column]!;
    const rowLength = this.#plan.rowBytes / VALUE_BYTES;
    const start = byteOffset / VALUE_BYTES + lane;
    const { values } = this;
    let slot = firstRow % ringRows;
    if (slot < 0) slot += ringRows;
    for (let i = 0; i < count; i++) {
      target[i] = values[start + slot * rowLength]!;
      if (++slot === ringRows) slot = 0;
    }
  }

  cell(column: number, row: number, lane: number): number {
    return this.values[this.rowStart(column, row) + lane]!;
  }
}
