import type { FactorBlock } from "../data/factor_batches.ts";
import { isSameValue, relativeDistance, ulpDistance } from "./distance.ts";

/** The values that every other run must give again: those of one usual run. */
export interface UsualValues {
  /** Row of the panel that comes first. */
  readonly firstRow: number;
  readonly laneCount: number;
  /** By factor, `[rows x lanes]`, NaN for null. */
  readonly columns: ReadonlyMap<string, Float64Array>;
}

/** A cell in which a run gave something else. */
export interface DifferingCell {
  readonly row: number;
  readonly lane: number;
  readonly usual: number;
  readonly other: number;
}

/** What a run gave otherwise for one factor. */
export interface FactorDifference {
  readonly name: string;
  readonly cellCount: number;
  /** Among them those where one side is null or infinite: there is no distance. */
  readonly incomparableCount: number;
  /** Largest distance of the others. */
  readonly relativeMax: number;
  readonly ulpMax: number;
  readonly first: DifferingCell;
}

/** Compares the blocks of runs with the usual values, cell by cell and bit by bit, where the input has a row. */
export class Comparison {
  readonly #usual: UsualValues;
  readonly #differences = new Map<string, FactorDifference>();
  #cellCount = 0;

  constructor(usual: UsualValues) {
    this.#usual = usual;
  }

  /** Cells compared so far. */
  get cellCount(): number {
    return this.#cellCount;
  }

  /** The factors that differ, in the order of the program. */
  get differences(): FactorDifference[] {
    return [...this.#usual.columns.keys()].flatMap((name) => this.#differences.get(name) ?? []);
  }

  /**
   * @param firstRow Row of the panel with which the block starts.
   * @param comparableFrom First row of the panel in which a factor can be compared.
   */
  take(block: FactorBlock, firstRow: number, comparableFrom: (factor: string) => number): void {
    for (const [name, values] of block.columns) {
      const from = Math.max(this.#usual.firstRow, comparableFrom(name)) - firstRow;
      if (from < block.rowCount) this.#compare(name, values, block, firstRow, Math.max(0, from));
    }
  }

  #compare(
    name: string,
    values: Float64Array | null,
    { present, rowCount }: FactorBlock,
    firstRow: number,
    from: number,
  ): void {
    const { columns, laneCount, firstRow: usualFirst } = this.#usual;
    const usual = columns.get(name);
    if (!usual) return;
    const offset = (firstRow - usualFirst) * laneCount;
    for (let cell = from * laneCount; cell < rowCount * laneCount; cell++) {
      if (present[cell] === 0) continue;
      this.#cellCount++;
      const expected = usual[offset + cell] as number;
      const other = values ? (values[cell] as number) : Number.NaN;
      if (isSameValue(expected, other)) continue;
      const row = firstRow + Math.floor(cell / laneCount);
      this.#note(name, { row, lane: cell % laneCount, usual: expected, other });
    }
  }

  #note(name: string, cell: DifferingCell): void {
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
      relativeMax: Math.max(before.relativeMax, hasDistance ? relativeDistance(usual, other) : 0),
      ulpMax: Math.max(before.ulpMax, hasDistance ? ulpDistance(usual, other) : 0),
    });
  }
}
