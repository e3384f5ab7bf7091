/** Compares two results: tables of factors with a time and a symbol in each row. */
import { columnOf, type PanelBlock, type PanelSource } from "../data/panel/panel_source.ts";
import { describeTimeType, formatTime } from "../data/time/time_text.ts";
import { DataError } from "../errors.ts";
import { type Distances, isSameValue, withCell } from "./distance.ts";

/** A cell with two values; NaN is null. */
interface ValuePair {
  readonly time: string;
  readonly symbol: string;
  readonly a: number;
  readonly b: number;
}

/** The cells of one factor that differ beyond the tolerance. */
export interface ColumnDifference extends Distances {
  readonly name: string;
  readonly cellCount: number;
  /** Differing cells that are null in one result. */
  readonly nullCount: number;
  readonly absoluteMax: number;
  /** The first in the order of time, then symbol. */
  readonly first: ValuePair;
}

export interface ResultDifference {
  /** Factors of both results. */
  readonly compared: readonly string[];
  readonly onlyInA: readonly string[];
  readonly onlyInB: readonly string[];
  /** Rows (time and symbol) of both results. */
  readonly rowCount: number;
  readonly rowsOnlyInA: number;
  readonly rowsOnlyInB: number;
  /** The factors that differ, in the order of the first result. */
  readonly differences: readonly ColumnDifference[];
  /** Whether both have the same factors and rows, and no cell differs. */
  readonly isSame: boolean;
}

/** Values that are read at once from each result: 32 MiB. */
const BLOCK_VALUES = 2 ** 22;

/**
 * Compares two results row by row, in the memory of a few blocks. Rows may be in any order. Text columns are not compared.
 *
 * @param tolerance 0 compares bits, so that -0 and 0 differ; else `a` and `b` are the same where
 *   `|a - b| <= tolerance + tolerance * |b|`, as with `numpy.isclose` where `atol` and `rtol` are the tolerance. A null and a
 *   value always differ, and so do an infinity and any other value.
 * @throws DataError E385 for times of different types, E386 if no factor or no row is in both; else as reading does.
 */
export async function diffSources(
  a: PanelSource,
  b: PanelSource,
  tolerance: number,
): Promise<ResultDifference> {
  checkTimes(a, b);
  const compared = a.fieldNames.filter((name) => b.fieldNames.includes(name));
  if (compared.length === 0) throw nothingInCommon("factor");
  const lanesOfB = new Map(b.symbols.map((symbol, lane) => [symbol, lane]));
  const lanes = a.symbols.map((symbol) => lanesOfB.get(symbol) ?? -1);
  const found = new Map<string, ColumnDifference>();
  const [rowsOfA, rowsOfB] = [new RowReader(a, compared), new RowReader(b, compared)];
  const counts = { a: 0, b: 0, both: 0 };
  for (const [rowA, rowB] of alignedRows(a.time.values, b.time.values)) {
    const left = rowA === null ? null : await rowsOfA.read(rowA);
    const right = rowB === null ? null : await rowsOfB.read(rowB);
    if (left) counts.a += presentIn(left);
    if (right) counts.b += presentIn(right);
    if (!left || !right) continue;
    const pairs = commonCells(left, right, lanes);
    counts.both += pairs.length;
    for (const name of compared) {
      const [valuesA, valuesB] = [columnOf(left.block.fields, name), columnOf(right.block.fields, name)];
      for (const { cellA, cellB, lane } of pairs) {
        const [x, y] = [valuesA[cellA] as number, valuesB[cellB] as number];
        if (isWithin(x, y, tolerance)) continue;
        const before = found.get(name) ?? {
          ...NO_DIFFERENCE,
          name,
          first: {
            time: formatTime(a.time.values[rowA!]!, a.time.type),
            symbol: a.symbols[lane]!,
            a: x,
            b: y,
          },
        };
        found.set(name, withDifference(before, x, y));
      }
    }
  }
  if (counts.both === 0) throw nothingInCommon("row");
  const onlyInA = a.fieldNames.filter((name) => !b.fieldNames.includes(name));
  const onlyInB = b.fieldNames.filter((name) => !a.fieldNames.includes(name));
  const [rowsOnlyInA, rowsOnlyInB] = [counts.a - counts.both, counts.b - counts.both];
  const differences = compared.flatMap((name) => found.get(name) ?? []);
  const isSame = onlyInA.length + onlyInB.length + rowsOnlyInA + rowsOnlyInB + differences.length === 0;
  return { compared, onlyInA, onlyInB, rowCount: counts.both, rowsOnlyInA, rowsOnlyInB, differences, isSame };
}

function checkTimes(a: PanelSource, b: PanelSource): void {
  const [typeA, typeB] = [describeTimeType(a.time.type), describeTimeType(b.time.type)];
  if (typeA === typeB) return;
  throw new DataError(
    "E385",
    `each time of the first result is ${typeA}, each time of the second ${typeB}`,
    "write both with times of one type",
  );
}

function nothingInCommon(what: "factor" | "row"): DataError {
  const remedy = what === "factor" ? "factors are compared by name" : "rows are compared by time and symbol";
  return new DataError("E386", `the two results have no ${what} in common`, remedy);
}

/** Pairs of rows in the order of time; null on the side that does not have the time. */
function* alignedRows(a: BigInt64Array, b: BigInt64Array): Generator<[number | null, number | null]> {
  let [rowA, rowB] = [0, 0];
  while (rowA < a.length || rowB < b.length) {
    const [timeA, timeB] = [a[rowA], b[rowB]];
    if (timeB === undefined || (timeA !== undefined && timeA < timeB)) yield [rowA++, null];
    else if (timeA === undefined || timeB < timeA) yield [null, rowB++];
    else yield [rowA++, rowB++];
  }
}

/** A row of a block: its cells are `[start, start + laneCount)`. */
interface BlockRow {
  readonly block: PanelBlock;
  readonly start: number;
  readonly laneCount: number;
}

/** Reads all rows of a source one after the other. */
class RowReader {
  readonly #laneCount: number;
  readonly #blocks: AsyncIterator<PanelBlock>;
  #block: PanelBlock | null = null;
  #firstRow = 0;

  constructor(source: PanelSource, fields: readonly string[]) {
    this.#laneCount = source.laneCount;
    const blockRows = Math.max(1, Math.floor(BLOCK_VALUES / (source.laneCount * fields.length)));
    this.#blocks = source
      .blocks({ fields, groups: [], blockRows: Math.min(blockRows, source.rowCount) })
      [Symbol.asyncIterator]();
  }

  /** @param row the next one */
  async read(row: number): Promise<BlockRow> {
    if (this.#block === null || row >= this.#firstRow + this.#block.rowCount) {
      this.#firstRow = row;
      this.#block = (await this.#blocks.next()).value as PanelBlock;
    }
    const laneCount = this.#laneCount;
    return { block: this.#block, start: (row - this.#firstRow) * laneCount, laneCount };
  }
}

function presentIn({ block, start, laneCount }: BlockRow): number {
  return block.present.subarray(start, start + laneCount).reduce((sum, isPresent) => sum + isPresent, 0);
}

interface CellPair {
  readonly cellA: number;
  readonly cellB: number;
  readonly lane: number;
}

/** @param lanes the second result's lane for each of the first, -1 for none */
function commonCells(a: BlockRow, b: BlockRow, lanes: readonly number[]): CellPair[] {
  const pairs: CellPair[] = [];
  for (const [lane, laneB] of lanes.entries()) {
    const [cellA, cellB] = [a.start + lane, b.start + laneB];
    if (laneB >= 0 && a.block.present[cellA] === 1 && b.block.present[cellB] === 1)
      pairs.push({ cellA, cellB, lane });
  }
  return pairs;
}

function isWithin(a: number, b: number, tolerance: number): boolean {
  if (isSameValue(a, b)) return true;
  if (tolerance === 0 || !Number.isFinite(a) || !Number.isFinite(b)) return false;
  return Math.abs(a - b) <= tolerance + tolerance * Math.abs(b);
}

const NO_DIFFERENCE = { cellCount: 0, nullCount: 0, absoluteMax: 0, relativeMax: 0, ulpMax: 0 };

function withDifference(before: ColumnDifference, a: number, b: number): ColumnDifference {
  const hasDistance = Number.isFinite(a) && Number.isFinite(b);
  return {
    ...before,
    cellCount: before.cellCount + 1,
    nullCount: before.nullCount + (Number.isNaN(a) || Number.isNaN(b) ? 1 : 0),
    absoluteMax: Math.max(before.absoluteMax, hasDistance ? Math.abs(a - b) : 0),
    ...withCell(before, a, b),
  };
}
