import type { Plan } from "../plan/plan.ts";

/** The arena as numbers, and where a plan's columns lie in it. Positions count doubles, not bytes. */
export class Arena {
  readonly values: Float64Array<SharedArrayBuffer>;
  readonly #plan: Plan;

  constructor(plan: Plan, memory: WebAssembly.Memory) {
    this.#plan = plan;
    this.values = new Float64Array(memory.buffer);
  }

  /** Where row `row` of a column starts; a row of the future or of the forgotten past is another row's slot. */
  rowStart(column: number, row: number): number {
    const { ringRows, byteOffset } = this.#plan.columns[column]!;
    const slot = row % ringRows;
    return (
      (byteOffset + (slot < 0 ? slot + ringRows : slot) * this.#plan.rowBytes) /
      Float64Array.BYTES_PER_ELEMENT
    );
  }

  historyRows(column: number): number {
    return this.#plan.columns[column]!.historyRows;
  }

  cell(column: number, row: number, lane: number): number {
    return this.values[this.rowStart(column, row) + lane]!;
  }
}
