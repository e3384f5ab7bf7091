import type { FactorBlock } from "../data/factors/factor_batches.ts";
import { type CellNames, CellTally, type DifferingCells, isWithin } from "./cell_tally.ts";
import type { PairReach } from "./paired_trees.ts";

/** Values `[rows x lanes]`, or one number for all cells. */
type Values = Float64Array | number;

/** A row of a block. */
export interface TalliedRow {
  /** Number of the row in the panel. */
  readonly row: number;
  readonly time: bigint;
  /** The first of its cells in the block. */
  readonly start: number;
  /** `[rows x lanes]` of the block, 1 where the input has a row. */
  readonly present: Uint8Array;
}

/**
 * Counts the cells in which two sub-expressions differ though what they read is equal: there the difference begins.
 *
 * Algorithm: rows come in order, the inputs of a pair before the pair. Each pair notes for each instrument the last row in
 * which it differed; so a cell of a window of `d` rows read no difference if that row is at least `d` rows ago.
 */
export class PairTally {
  readonly #inputs: readonly PairTally[];
  readonly #reach: PairReach;
  readonly #columns: readonly [string | number, string | number];
  readonly #tolerance: number;
  /** Whether any cell differed so far. */
  isDifferent = false;
  /** By lane, the last row that differed since history began. */
  readonly #lastRow: Float64Array;
  /** The last row in which an instrument that has a row differed. */
  #lastRowPresent = Number.NEGATIVE_INFINITY;
  #values: readonly [Values, Values] = [Number.NaN, Number.NaN];
  /** Cells that have a row, and the others: windows read them as well. */
  readonly #cells: CellTally;
  readonly #cellsWithoutRow: CellTally;

  /** @param columns for each side the output with its values, or the number that all of them are */
  constructor(
    inputs: readonly PairTally[],
    columns: readonly [string | number, string | number],
    reach: PairReach,
    { laneCount, tolerance }: { readonly laneCount: number; readonly tolerance: number },
  ) {
    this.#inputs = inputs;
    this.#columns = columns;
    this.#reach = reach;
    this.#tolerance = tolerance;
    this.#cells = new CellTally(tolerance);
    this.#cellsWithoutRow = new CellTally(tolerance);
    this.#lastRow = new Float64Array(laneCount).fill(Number.NEGATIVE_INFINITY);
  }

  /** Names of the outputs that it compares. */
  get outputs(): string[] {
    return this.#columns.filter((column) => typeof column === "string");
  }

  /** The block whose rows come next. */
  open({ columns }: FactorBlock): void {
    const [a, b] = this.#columns.map((column): Values => {
      return typeof column === "number" ? column : columns.get(column)!;
    });
    this.#values = [a!, b!];
  }

  /** History begins with the next row: nothing reads the rows before. */
  restart(): void {
    this.#lastRow.fill(Number.NEGATIVE_INFINITY);
  }

  takeRow({ row, time, start, present }: TalliedRow): void {
    const [a, b] = this.#values;
    const { rows, isAcrossRow } = this.#reach;
    const readsEqualRow = isAcrossRow && this.#inputs.every((input) => input.#lastRowPresent < row);
    for (let lane = 0; lane < this.#lastRow.length; lane++) {
      const cell = start + lane;
      const [x, y] = [typeof a === "number" ? a : a[cell]!, typeof b === "number" ? b : b[cell]!];
      if (isWithin(x, y, this.#tolerance)) continue;
      const isPresent = present[cell] === 1;
      this.#lastRow[lane] = row;
      this.isDifferent = true;
      if (isPresent) this.#lastRowPresent = row;
      const readsEqual = isAcrossRow
        ? readsEqualRow
        : this.#inputs.every((input) => input.#lastRow[lane]! <= row - rows);
      if (readsEqual) (isPresent ? this.#cells : this.#cellsWithoutRow).take(x, y, time, lane);
    }
  }

  /** The cells in which a difference begins, those without a row only where there are no others; null for none. */
  found(names: CellNames): DifferingCells | null {
    return this.#cells.found(names) ?? this.#cellsWithoutRow.found(names);
  }
}
