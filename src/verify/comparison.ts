import type { FactorBlock } from "../data/factors/factor_batches.ts";
import { isSameValue, withCell } from "../difference/distance.ts";

/** The results of the usual run, which every other run must reproduce. */
export interface UsualValues {
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

/** A cell with a different value. */
export interface DifferingCell {
  readonly row: number;
  readonly lane: number;
  readonly usual: number;
  readonly other: number;
}

/** The differing cells of one factor. */
export interface FactorDifference {
  readonly name: string;
  readonly cellCount: number;
  /** Differing cells without a distance: one side is null or infinite. */
  readonly incomparableCount: number;
  /** Largest distance of the other cells. */
  readonly relativeMax: number;
  readonly ulpMax: number;
  readonly first: DifferingCell;
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
  /** The factors that differ, in the order of the program. */
  readonly differences: readonly FactorDifference[];
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
  /** Present cells from each row on. */
  readonly #cellsFrom: readonly number[];
  readonly #differences = new Map<string, FactorDifference>();
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
    this.#cellsFrom = cellsFrom(usual);
  }

  get findings(): Findings {
    return {
      cellCount: this.#cellCount,
      differences: [...this.#usual.columns.keys()].flatMap((name) => this.#differences.get(name) ?? []),
      miscounts: this.#miscounts,
      otherTimeCount: this.#otherTimeCount,
      otherPresenceCount: this.#otherPresenceCount,
    };
  }

  /** @param firstRow the first row of the block in the panel */
  addBlock(block: FactorBlock, firstRow: number, comparableFrom: ComparableFrom): void {
    const rows = this.#usualRows(block, firstRow);
    for (const [name, values] of block.columns) {
      if (!this.#usual.columns.has(name)) continue;
      const from = comparableFrom(name);
      const compared = rows.filter((row) => row >= from);
      this.#compare(name, values, block, firstRow, compared);
    }
  }

  /** Ends a run of these factors: counts their cells. */
  endRun(factors: readonly string[], comparableFrom: ComparableFrom): void {
    const { firstRow, times } = this.#usual;
    for (const name of factors) {
      const from = Math.min(times.length, Math.max(0, comparableFrom(name) - firstRow));
      const cellCount = this.#runCounts.get(name) ?? 0;
      const expectedCount = this.#cellsFrom[from] as number;
      if (cellCount !== expectedCount) this.#miscounts.push({ name, cellCount, expectedCount });
    }
    this.#runCounts = new Map();
    this.#nextRow = 0;
  }

  /** The rows of a block that the usual run has too; counts other times and cells. Runs may begin before the usual run. */
  #usualRows({ rowCount, times, present }: FactorBlock, firstRow: number): number[] {
    const { firstRow: usualFirst, laneCount, times: usualTimes, present: usualPresent } = this.#usual;
    const rows: number[] = [];
    for (let row = Math.max(firstRow, usualFirst); row < firstRow + rowCount; row++) {
      if (row < this.#nextRow || times[row - firstRow] !== usualTimes[row - usualFirst]) {
        this.#otherTimeCount++;
        continue;
      }
      rows.push(row);
      for (let lane = 0; lane < laneCount; lane++) {
        const isPresent = present[(row - firstRow) * laneCount + lane] === 1;
        if (isPresent !== (usualPresent[(row - usualFirst) * laneCount + lane] === 1))
          this.#otherPresenceCount++;
      }
    }
    this.#nextRow = Math.max(this.#nextRow, firstRow + rowCount);
    return rows;
  }

  #compare(
    name: string,
    values: Float64Array | null,
    { present }: FactorBlock,
    firstRow: number,
    rows: readonly number[],
  ): void {
    const { columns, laneCount, firstRow: usualFirst, present: usualPresent } = this.#usual;
    const usual = columns.get(name) as Float64Array;
    let count = 0;
    for (const row of rows) {
      const [start, usualStart] = [(row - firstRow) * laneCount, (row - usualFirst) * laneCount];
      for (let lane = 0; lane < laneCount; lane++) {
        if (present[start + lane] !== 1 || usualPresent[usualStart + lane] !== 1) continue;
        count++;
        const expected = usual[usualStart + lane] as number;
        const other = values ? (values[start + lane] as number) : Number.NaN;
        if (!isSameValue(expected, other)) this.#addDifference(name, { row, lane, usual: expected, other });
      }
    }
    this.#cellCount += count;
    this.#runCounts.set(name, (this.#runCounts.get(name) ?? 0) + count);
  }

  #addDifference(name: string, cell: DifferingCell): void {
    const { usual, other } = cell;
    const before = this.#differences.get(name) ?? {
      name,
      cellCount: 0,
      incomparableCount: 0,
      relativeMax: 0,
      ulpMax: 0,
      first: cell,
    };
    const hasDistance = Number.isFinite(usual) && Number.isFinite(other);
    this.#differences.set(name, {
      ...before,
      cellCount: before.cellCount + 1,
      incomparableCount: before.incomparableCount + (hasDistance ? 0 : 1),
      ...withCell(before, usual, other),
    });
  }
}

/** Numbers of cells from each row to the end; ends with 0. */
function cellsFrom({ times, laneCount, present }: UsualValues): number[] {
  const counts = [0];
  for (let row = times.length - 1; row >= 0; row--) {
    const cells = present.subarray(row * laneCount, (row + 1) * laneCount);
    counts.push((counts.at(-1) as number) + cells.reduce((sum, isPresent) => sum + isPresent, 0));
  }
  return counts.reverse();
}
