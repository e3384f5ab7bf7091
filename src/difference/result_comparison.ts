import { type CellNames, CellTally, type DifferingCells } from "./cell_tally.ts";

/** The cells of one factor that differ beyond the tolerance. */
export interface ColumnDifference extends DifferingCells {
  readonly name: string;
}

/** A row of a result. */
export interface ComparedRow {
  /** By factor its values, NaN for null; null where all are. */
  readonly columns: ReadonlyMap<string, Float64Array | null>;
  /** 1 where there is a row. */
  readonly present: Uint8Array;
  /** The first of its cells in these columns. */
  readonly start: number;
}

/** Compares two results row by row. */
export class ResultComparison {
  readonly #tallies: ReadonlyMap<string, CellTally>;
  readonly #lanes: readonly number[];
  readonly #isValue: (value: number) => boolean;

  /**
   * @param names the factors that both have
   * @param lanes the second result's lane for each of the first, -1 for none
   */
  constructor(
    names: readonly string[],
    lanes: readonly number[],
    { tolerance = 0, keepInfinite = true }: { readonly tolerance?: number; readonly keepInfinite?: boolean },
  ) {
    this.#tallies = new Map(names.map((name) => [name, new CellTally(tolerance)]));
    this.#lanes = lanes;
    this.#isValue = keepInfinite ? () => true : Number.isFinite;
  }

  /** Compares the cells that both have in a row. @returns how many there are of each factor */
  takeRow(
    time: bigint,
    a: ComparedRow,
    b: ComparedRow,
    names: Iterable<string> = this.#tallies.keys(),
  ): number {
    const lanes: number[] = [];
    for (const [lane, laneB] of this.#lanes.entries())
      if (laneB >= 0 && a.present[a.start + lane] === 1 && b.present[b.start + laneB] === 1) lanes.push(lane);
    for (const name of names) {
      const tally = this.#tallies.get(name)!;
      const [valuesA, valuesB] = [a.columns.get(name), b.columns.get(name)];
      for (const lane of lanes) {
        const x = this.#output(valuesA?.[a.start + lane]);
        const y = this.#output(valuesB?.[b.start + this.#lanes[lane]!]);
        tally.take(x, y, time, lane);
      }
    }
    return lanes.length;
  }

  /** The factors that differ, in the order of their names. */
  differences(cells: CellNames): ColumnDifference[] {
    return [...this.#tallies].flatMap(([name, tally]) => {
      const found = tally.found(cells);
      return found ? [{ name, ...found }] : [];
    });
  }

  /** A value as the output has it. */
  #output(value = Number.NaN): number {
    return this.#isValue(value) ? value : Number.NaN;
  }
}
