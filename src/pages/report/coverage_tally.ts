import type { FactorBlock } from "../../data/factors/factor_batches.ts";
import { FoldedSums } from "./folded_sums.ts";

/** As many points as a picture shows at most. */
const POINTS_MAX = 400;
/** The name of no factor. */
const ROWS = "";

/** Counts the rows of a result and the values of its factors along time, folded to a few hundred points. */
export class CoverageTally {
  readonly #sums = new FoldedSums(POINTS_MAX, 1);
  readonly #keepsInfinite: boolean;
  /** Times so far, and the first one. */
  timeCount = 0;
  firstTime: bigint | null = null;

  /** @param keepsInfinite whether infinities are values, or null as in the result */
  constructor(keepsInfinite: boolean) {
    this.#keepsInfinite = keepsInfinite;
  }

  /** Takes the next times. */
  add({ rowCount, times, present, columns }: FactorBlock): void {
    if (rowCount === 0) return;
    this.firstTime ??= times[0]!;
    const laneCount = present.length / rowCount;
    for (let row = 0; row < rowCount; row++) {
      const [first, end] = [row * laneCount, (row + 1) * laneCount];
      const time = this.timeCount + row;
      let count = 0;
      for (let cell = first; cell < end; cell++) count += present[cell]!;
      this.#sums.add(ROWS, time, time + 1, count);
      for (const [name, values] of columns) {
        if (values) this.#sums.add(name, time, time + 1, this.#valuesIn(values, present, first, end));
      }
    }
    this.timeCount += rowCount;
  }

  get timesPerPoint(): number {
    return this.#sums.width;
  }

  get pointCount(): number {
    return this.#sums.binCount;
  }

  /** Rows of the result by point. */
  rows(): number[] {
    return [...this.#sums.sums(ROWS)];
  }

  /** Values of a factor by point. */
  values(factor: string): number[] {
    return [...this.#sums.sums(factor)];
  }

  #valuesIn(values: Float64Array, present: Uint8Array, first: number, end: number): number {
    let count = 0;
    for (let cell = first; cell < end; cell++) {
      const value = values[cell]!;
      // Of infinities and NaN alone the difference to itself is not 0.
      const isNull = this.#keepsInfinite ? Number.isNaN(value) : value - value !== 0;
      if (present[cell] === 1 && !isNull) count++;
    }
    return count;
  }
}
