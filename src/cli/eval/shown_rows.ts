import type { FactorBlock } from "../../data/factors/factor_batches.ts";
import type { RowChoice } from "./row_choice.ts";

/** A row of the result: `values` has one per factor, NaN for null. */
export interface ShownRow {
  readonly time: bigint;
  readonly lane: number;
  readonly values: Float64Array;
}

/** Keeps the rows to be printed while blocks pass, in memory for these rows alone. */
export class ShownRows {
  readonly #choice: RowChoice;
  readonly #factors: readonly string[];
  #rows: ShownRow[] = [];

  constructor(factors: readonly string[], choice: RowChoice) {
    this.#factors = factors;
    this.#choice = choice;
  }

  /** In the order of the result. */
  get rows(): readonly ShownRow[] {
    return this.#rows;
  }

  /** Takes what it needs of the next rows. */
  add(block: FactorBlock): void {
    const { edge, count } = this.#choice;
    if (edge === "head") {
      if (this.#rows.length < count)
        this.#rows.push(...this.#cellsOf(block, 1, count - this.#rows.length).map(this.#copier(block)));
      return;
    }
    const newest = this.#cellsOf(block, -1, count).reverse().map(this.#copier(block));
    this.#rows = [...this.#rows, ...newest].slice(Math.max(0, this.#rows.length + newest.length - count));
  }

  /** At most `count` cells of the block that fit, from its first on or from its last back. */
  #cellsOf({ rowCount, times, present }: FactorBlock, step: 1 | -1, count: number): number[] {
    const { lanes, time } = this.#choice;
    const laneCount = present.length / rowCount;
    const cells: number[] = [];
    for (let row = step === 1 ? 0 : rowCount - 1; row >= 0 && row < rowCount; row += step) {
      if (time !== null && times[row] !== time) continue;
      for (let lane = step === 1 ? 0 : laneCount - 1; lane >= 0 && lane < laneCount; lane += step) {
        if (cells.length === count) return cells;
        const cell = row * laneCount + lane;
        if (present[cell] === 1 && (lanes === null || lanes.has(lane))) cells.push(cell);
      }
    }
    return cells;
  }

  #copier({ rowCount, times, present, columns }: FactorBlock): (cell: number) => ShownRow {
    const laneCount = present.length / rowCount;
    const sources = this.#factors.map((name) => columns.get(name) ?? null);
    return (cell) => ({
      time: times[Math.floor(cell / laneCount)]!,
      lane: cell % laneCount,
      values: Float64Array.from(sources, (source) => source?.[cell] ?? Number.NaN),
    });
  }
}
