/** Compares two results: tables of factors with a time and a symbol in each row. */
import { asPanelSource, type PanelBlock, type PanelSource } from "../data/panel/panel_source.ts";
import { openPanelSource } from "../data/source/open_panel_source.ts";
import { describeTimeType } from "../data/time/time_text.ts";
import { DataError } from "../errors.ts";
import type { Panel } from "../panel.ts";
import { checkedOptions, type OptionKinds } from "../text/option_kinds.ts";
import { nearestName } from "../text/suggest.ts";
import { TOLERANCE } from "./cell_tally.ts";
import { type ColumnDifference, type ComparedRow, ResultComparison } from "./result_comparison.ts";

/** Names of factors by where they are. */
export interface MatchedNames {
  /** Factors of both, in the order of the first. */
  readonly compared: readonly string[];
  /** Factors of the first alone. */
  readonly onlyInA: readonly string[];
  /** Factors of the second alone. */
  readonly onlyInB: readonly string[];
}

/** How two results differ. */
export interface ResultDifference extends MatchedNames {
  /** Rows (time and symbol) of both results. */
  readonly rowCount: number;
  /** Rows of the first alone. */
  readonly rowsOnlyInA: number;
  /** Rows of the second alone. */
  readonly rowsOnlyInB: number;
  /** The factors that differ, in the order of the first result. */
  readonly differences: readonly ColumnDifference[];
  /** Whether both have the same factors and rows, and no cell differs. */
  readonly isSame: boolean;
}

/** Values that are read at once from each result: 8 MiB. */
const BLOCK_VALUES = 2 ** 20;

export interface DiffResultsOptions {
  /**
   * Cells `a` and `b` agree where `|a - b| <= tolerance + tolerance * |b|`, as with `numpy.isclose` where `atol` and `rtol`
   * are the tolerance. Default 0: bits are compared, so that -0 and 0 differ. A null and a value always differ, and so do
   * an infinity and any other value.
   */
  readonly tolerance?: number;
}

export const DIFF_RESULTS_OPTIONS: OptionKinds<DiffResultsOptions> = { tolerance: TOLERANCE };

/**
 * Compares two results cell by cell: tables of factors with a time and a symbol in each row, in any order, as paths of
 * files or as sources. Factors are matched by name, rows by time and symbol. Text columns are not compared.
 *
 * Both are read block by block, so results may be larger than memory; DuckDB sorts rows that are out of order, on disk
 * where memory is short.
 *
 * @throws DataError E386 for times of different types, if no factor or no row is in both; UsageError E528 for a
 *   tolerance that is negative or no number; else as `openPanelSource`.
 * @example
 * const { differences } = await diffResults("bars.csv", "bars.parquet", { tolerance: 1e-12 });
 * differences; // []
 */
export async function diffResults(
  a: string | PanelSource | Panel,
  b: string | PanelSource | Panel,
  options: DiffResultsOptions = {},
): Promise<ResultDifference> {
  const { tolerance = 0 } = checkedOptions("diffResults", options, DIFF_RESULTS_OPTIONS);
  return await withSource(a, (first) => withSource(b, (second) => diffSources(first, second, tolerance)));
}

/** Closes the source afterwards if it was opened here. */
async function withSource<T>(
  given: string | PanelSource | Panel,
  work: (source: PanelSource) => Promise<T>,
): Promise<T> {
  if (typeof given !== "string") return await work(asPanelSource("diffResults", given));
  const source = await openPanelSource(given);
  try {
    return await work(source);
  } finally {
    await source.close();
  }
}

async function diffSources(a: PanelSource, b: PanelSource, tolerance: number): Promise<ResultDifference> {
  checkTimes(a, b);
  if (!a.fieldNames.some((name) => b.fieldNames.includes(name))) checkTexts(a, b);
  const names = matchNames(a.fieldNames, b.fieldNames, "results");
  const lanesOfB = new Map(b.symbols.map((symbol, lane) => [symbol, lane]));
  const lanes = a.symbols.map((symbol) => lanesOfB.get(symbol) ?? -1);
  const comparison = new ResultComparison(names.compared, lanes, { tolerance });
  const [rowsOfA, rowsOfB] = [new RowReader(a, names.compared), new RowReader(b, names.compared)];
  const counts = { a: 0, b: 0, both: 0 };
  for (const [rowA, rowB] of alignedRows(a.time.values, b.time.values)) {
    const left = rowA === null ? null : await rowsOfA.read(rowA);
    const right = rowB === null ? null : await rowsOfB.read(rowB);
    if (left) counts.a += presentIn(left, a);
    if (right) counts.b += presentIn(right, b);
    if (left && right) counts.both += comparison.takeRow(a.time.values[rowA!]!, left, right);
  }
  if (counts.both === 0) throw nothingInCommon("results", "row", "rows are compared by time and symbol");
  const differences = comparison.differences({ symbols: a.symbols, timeType: a.time.type });
  const rows = {
    rowCount: counts.both,
    rowsOnlyInA: counts.a - counts.both,
    rowsOnlyInB: counts.b - counts.both,
  };
  return { ...names, ...rows, differences, isSame: isSame({ ...names, ...rows, differences }) };
}

/** @throws DataError E386 for a factor of one result whose cells are no numbers in the other. */
function checkTexts(a: PanelSource, b: PanelSource): void {
  const inB = a.fieldNames.find((name) => b.groupNames.includes(name));
  const text = inB ?? b.fieldNames.find((name) => a.groupNames.includes(name));
  if (text === undefined) return;
  const which = inB === undefined ? "first" : "second";
  throw nothingInCommon("results", "factor", `${text} of the ${which} is a column of text, not of numbers`);
}

function checkTimes(a: PanelSource, b: PanelSource): void {
  const [typeA, typeB] = [describeTimeType(a.time.type), describeTimeType(b.time.type)];
  if (typeA === typeB) return;
  throw new DataError(
    "E386",
    `each time of the first result is ${typeA}, each time of the second ${typeB}`,
    "write both with times of one type",
  );
}

/** What two things are compared, for messages. */
export type Compared = "results" | "programs";

/** Matches factors by name. @throws DataError E386 if no name is in both. */
export function matchNames(a: readonly string[], b: readonly string[], what: Compared): MatchedNames {
  const compared = a.filter((name) => b.includes(name));
  const onlyInA = a.filter((name) => !b.includes(name));
  const onlyInB = b.filter((name) => !a.includes(name));
  if (compared.length > 0) return { compared, onlyInA, onlyInB };
  const nearest = onlyInA.map((name) => [name, nearestName(name, b)]).find(([, near]) => near !== undefined);
  const near = nearest ? `: ${nearest[0]} of the first is not ${nearest[1]} of the second` : "";
  throw nothingInCommon(what, "factor", `factors are compared by name${near}`);
}

/** The two have nothing that could be compared. */
export function nothingInCommon(what: Compared, lacking: "factor" | "row", remedy: string): DataError {
  return new DataError("E386", `the two ${what} have no ${lacking} in common`, remedy);
}

/** Whether nothing differs, and nothing is on one side only. */
export function isSame({
  onlyInA,
  onlyInB,
  rowsOnlyInA,
  rowsOnlyInB,
  differences,
}: Omit<ResultDifference, "isSame">): boolean {
  return onlyInA.length + onlyInB.length + rowsOnlyInA + rowsOnlyInB + differences.length === 0;
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
  async read(row: number): Promise<ComparedRow> {
    if (this.#block === null || row >= this.#firstRow + this.#block.rowCount) {
      this.#firstRow = row;
      this.#block = (await this.#blocks.next()).value as PanelBlock;
    }
    const { fields, present } = this.#block;
    return { columns: fields, present, start: (row - this.#firstRow) * this.#laneCount };
  }
}

function presentIn({ present, start }: ComparedRow, { laneCount }: PanelSource): number {
  return present.subarray(start, start + laneCount).reduce((sum, isPresent) => sum + isPresent, 0);
}
