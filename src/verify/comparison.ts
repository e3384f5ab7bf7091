import type { FactorBlock } from "../data/factors/factor_batches.ts";
import type { CellNames } from "../difference/cell_tally.ts";
import { type ColumnDifference, ResultComparison } from "../difference/result_comparison.ts";

/** The results of the usual run, which every other run must reproduce. */
export interface UsualValues extends CellNames {
  /** The first of its rows in the panel. */
  readonly firstRow: number;
  readonly laneCount: number;
  /** One per row. */
  readonly times: BigInt64Array;
  /** `[rows x lanes]`, 1 for a cell that the input has. */
  readonly present: Uint8Array;
  /** By factor, `[rows x lanes]`, NaN for null. */
  readonly columns: ReadonlyMap<string, Float64Array>;
}

/** A factor of which a run returned another number of cells than the usual run. */
export interface Miscount {
  readonly name: string;
  readonly cellCount: number;
  readonly expectedCount: number;
}

/** The differences between runs and the usual run. */
export interface Findings {
  /** Cells compared. */
  readonly cellCount: number;
  /** The factors that differ, in the order of the program: `a` is the usual run. */
  readonly differences: readonly ColumnDifference[];
  /** One for each run and factor with fewer or more cells. */
  readonly miscounts: readonly Miscount[];
  /** Rows with another time than in the usual run, or missing there. */
  readonly otherTimeCount: number;
  /** Cells that only one of the two runs has. */
  readonly otherPresenceCount: number;
}

/** Whether a promise is broken. */
export function isBroken(found: Findings): boolean {
  const { differences, miscounts, otherTimeCount, otherPresenceCount } = found;
  return differences.length + miscounts.length + otherTimeCount + otherPresenceCount > 0;
}

/** The first row of the panel from which on a factor is compared. */
export type ComparableFrom = (factor: string) => number;

/**
 * Compares runs with the usual one, cell by cell and bit by bit, where the input has a row. The numbers of cells are
 * compared as well, so that a run cannot leave out any.
 */
export class RunComparison {
  readonly #usual: UsualValues;
  readonly #comparison: ResultComparison;
  readonly #miscounts: Miscount[] = [];
  #otherTimeCount = 0;
  #otherPresenceCount = 0;
  #cellCount = 0;
  /** Cells of each factor in the current run. */
  #runCounts = new Map<string, number>();
  /** The first row that the current run has not returned. */
  #nextRow = 0;

  constructor(usual: UsualValues) {
    this.#usual = usual;
    const lanes = Array.from({ length: usual.laneCount }, (_, lane) => lane);
    this.#comparison = new ResultComparison([...usual.columns.keys()], lanes, {});
  }

  get findings(): Findings {
    return {
      cellCount: this.#cellCount,
      differences: this.#comparison.differences(this.#usual),
      miscounts: this.#miscounts,
      otherTimeCount: this.#otherTimeCount,
      otherPresenceCount: this.#otherPresenceCount,
    };
  }

  /**
   * Runs may begin before the usual run.
   *
   * @param firstRow the first row of the block in the panel
   */
  addBlock(block: FactorBlock, firstRow: number, comparableFrom: ComparableFrom): void {
    const { laneCount, firstRow: usualFirst, ...usual } = this.#usual;
    const { times, present, columns } = block;
    const names = [...columns.keys()].filter((name) => usual.columns.has(name));
    const end = firstRow + block.rowCount;
    for (let row = Math.max(firstRow, usualFirst); row < end; row++) {
      const [start, usualStart] = [(row - firstRow) * laneCount, (row - usualFirst) * laneCount];
      const time = times[row - firstRow]!;
      if (row < this.#nextRow || time !== usual.times[row - usualFirst]) {
        this.#otherTimeCount++;
        continue;
      }
      for (let lane = 0; lane < laneCount; lane++)
        if (present[start + lane] !== usual.present[usualStart + lane]) this.#otherPresenceCount++;
      const compared = names.filter((name) => row >= comparableFrom(name));
      const count = this.#comparison.takeRow(
        time,
        { ...usual, start: usualStart },
        { columns, present, start },
        compared,
      );
      this.#cellCount += count * compared.length;
      for (const name of compared) this.#runCounts.set(name, (this.#runCounts.get(name) ?? 0) + count);
    }
    this.#nextRow = Math.max(this.#nextRow, end);
  }

  /** Ends a run of these factors: counts their cells. */
  endRun(factors: readonly string[], comparableFrom: ComparableFrom): void {
    const { firstRow, laneCount, present } = this.#usual;
    for (const name of factors) {
      const cells = present.subarray(Math.max(0, comparableFrom(name) - firstRow) * laneCount);
      const cellCount = this.#runCounts.get(name) ?? 0;
      const expectedCount = cells.reduce((sum, isPresent) => sum + isPresent, 0);
      if (cellCount !== expectedCount) this.#miscounts.push({ name, cellCount, expectedCount });
    }
    this.#runCounts = new Map();
    this.#nextRow = 0;
  }
}
