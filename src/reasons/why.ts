import { CallParams, type ParamOptions } from "../call_params.ts";
import { finalDag, type Program, withOperators } from "../compile.ts";
import type { PanelSource, RowRange } from "../data/panel/panel_source.ts";
import { formatTime } from "../data/time/time_text.ts";
import type { EngineHost } from "../evaluation/evaluation.ts";
import type { EvaluateOptions } from "../evaluation/options.ts";
import { RestartFinder } from "../evaluation/restarts.ts";
import { rowRange } from "../evaluation/row_range.ts";
import { checkSelect } from "../evaluation/wanted_factors.ts";
import { type ArgumentKind, TEXT } from "../text/argument_kinds.ts";
import { isBad } from "./blame.ts";
import { laneOf, noSuchCell, rowOf } from "./cell_of_panel.ts";
import { CellReasons } from "./cell_reasons.ts";
import { type FieldReach, reachOf } from "./dependencies.ts";
import type { Dependency, Explanation } from "./explanation.ts";
import type { NullOrigins } from "./null_origins.ts";
import { tracedBlocks } from "./traced_blocks.ts";
import { traceProgram } from "./traced_program.ts";

/** A factor of an instrument, and the options of the call that computed it. */
export interface WhyFactorOptions extends Omit<EvaluateOptions, "select" | "from" | "to"> {
  readonly factor: string;
  readonly symbol: string;
}

/** The cell that is explained. */
export interface WhyOptions extends WhyFactorOptions {
  /** A time of the data, e.g. `"2018-03-02"`. */
  readonly time: string | Date;
}

/** The cells that are explained: those of the times at which the symbol has a row. */
export interface WhyRowsOptions extends WhyFactorOptions, Pick<EvaluateOptions, "from" | "to"> {}

const NAME: ArgumentKind = { ...TEXT, isRequired: true };

/** What is explained, beside the options of the call that computed it. */
export const OWN_WHY_ROWS_OPTIONS = { factor: NAME, symbol: NAME };
export const OWN_WHY_OPTIONS = {
  ...OWN_WHY_ROWS_OPTIONS,
  time: {
    what: "a text or a Date",
    fits: (given) => TEXT.fits(given) || (given instanceof Date && !Number.isNaN(given.getTime())),
    remedy: "give a time of the data",
    isRequired: true,
  } satisfies ArgumentKind,
};

/**
 * Explains a cell of a factor.
 *
 * Computes the sub-expressions as written, for the rows that the cell depends on: with a window-based formula no row
 * before them is read.
 *
 * @throws UsageError E506 for an unknown factor, E541 for a time that does not fit; DataError E344 for a
 *   time, a symbol or a row that the data lack; else as `evaluate`.
 */
export async function explainFactorCell(
  host: EngineHost,
  program: Program,
  source: PanelSource,
  options: WhyOptions,
): Promise<Explanation> {
  checkSelect(program, [options.factor]);
  laneOf(source, options.symbol);
  return await explainRow(host, program, source, await rowOf(source, options.time), options);
}

/** The same for a row of the source. @throws DataError E344. */
export async function explainRow(
  host: EngineHost,
  program: Program,
  source: PanelSource,
  row: number,
  options: WhyFactorOptions,
): Promise<Explanation> {
  const [found] = await explainRows(host, program, source, { first: row, end: row + 1 }, options);
  if (found) return found;
  const { symbol } = options;
  const time = formatTime(source.time.values[row]!, source.time.type);
  const nearest = await nearestTimes(source, laneOf(source, symbol), row);
  const remedy =
    nearest.length > 0
      ? `its nearest rows are those of ${nearest.join(" and ")}`
      : "it has no row near that time";
  throw noSuchCell(`${symbol} has no row on ${time}`, remedy);
}

/** Rows up to a cell of a factor that it depends on, its own included; Infinity for all. */
export function rowsReadBy(program: Program, factor: string): number {
  const { tasks, roots, universe } = traceProgram(program, [factor]);
  return 1 + reachOf(tasks, roots.get(factor)!, universe).rowsAgo;
}

/** Explains the cells of a factor and an instrument in a range of rows. @throws DataError E344 for an empty range; as above. */
export async function explainFactorRows(
  host: EngineHost,
  program: Program,
  source: PanelSource,
  options: WhyRowsOptions,
): Promise<Explanation[]> {
  checkSelect(program, [options.factor]);
  laneOf(source, options.symbol);
  return await explainRows(host, program, source, await rowRange(source.time, options), options);
}

async function explainRows(
  host: EngineHost,
  program: Program,
  source: PanelSource,
  range: RowRange,
  options: WhyFactorOptions,
): Promise<Explanation[]> {
  const { factor, symbol } = options;
  const lane = laneOf(source, symbol);
  const traced = traceProgram(program, [factor]);
  const root = traced.roots.get(factor)!;
  const reach = reachOf(traced.tasks, root, traced.universe);
  const restartRows = (await RestartFinder.of(source.time, range.end, options))?.rows ?? [];
  const startOf = (row: number) => restartRows.findLast((restart) => restart <= row) ?? 0;
  const rows = { first: Math.max(startOf(range.first), range.first - reach.rowsAgo), end: range.end };
  let origins: NullOrigins | null = null;
  for await (const block of tracedBlocks(host, traced, source, { rows, lane }, options))
    origins = block.origins;
  if (origins === null) return [];
  const { type, values } = source.time;
  const { bound, source: text } = program.written;
  const { expression } = bound.factors.find(({ name }) => name === factor)!;
  const times = values.subarray(rows.first, rows.end);
  const { taskOf } = traced;
  const reasons = new CellReasons({ expression, source: text, taskOf, origins, times, timeType: type });
  const isWanted = await wantedRows(program, source, factor, options);
  const explanation = (row: number): Explanation => {
    const at = row - rows.first;
    const value = origins.value(root, at);
    const isNull = Number.isNaN(value) || (isBad(value) && options.keepInfinite !== true) || !isWanted(row);
    const chain = !isNull ? [] : isWanted(row) ? reasons.chain(at) : [reasons.unwanted(at)];
    return {
      factor,
      symbol,
      time: formatTime(values[row]!, type),
      value: isNull ? null : value,
      cause: chain.at(-1)?.cause ?? null,
      expression: reasons.tree(at),
      chain,
      dependsOn: reach.fields.map((field) => dependencyOf(field, source, startOf(row), row)),
    };
  };
  return Array.from({ length: range.end - range.first }, (_, i) => range.first + i)
    .filter((row) => origins.isPresent(row - rows.first))
    .map(explanation);
}

/** Whether the factor's own condition holds in a row. */
async function wantedRows(
  program: Program,
  { time }: PanelSource,
  factor: string,
  options: ParamOptions,
): Promise<(row: number) => boolean> {
  const { condition } = finalDag(program).outputs.find(({ name }) => name === factor)!;
  if (condition === null) return () => true;
  const params = await CallParams.of(program, time.type, options, withOperators(program.operators));
  return (row) => params.isWanted(condition, params.setsAt(time.values.subarray(row, row + 1)));
}

/** Rows before and after a time in which rows of an instrument are looked for. */
const NEAR_ROWS = 250;

/** The nearest times before and after a row at which the instrument has a row. */
async function nearestTimes(source: PanelSource, lane: number, row: number): Promise<string[]> {
  const { time, rowCount, laneCount, fieldNames } = source;
  const rows = { first: Math.max(0, row - NEAR_ROWS), end: Math.min(rowCount, row + NEAR_ROWS) };
  const fields = fieldNames.slice(0, 1);
  const found: number[] = [];
  let first = rows.first;
  for await (const block of source.blocks({ fields, groups: [], blockRows: NEAR_ROWS, rows })) {
    for (let i = 0; i < block.rowCount; i++)
      if (block.present[i * laneCount + lane] === 1) found.push(first + i);
    first += block.rowCount;
  }
  const near = [found.findLast((at) => at < row), found.find((at) => at > row)];
  return near.flatMap((at) => (at === undefined ? [] : [formatTime(time.values[at]!, time.type)]));
}

function dependencyOf(
  { field, rowsAgo, ofAllLanes }: FieldReach,
  { time }: PanelSource,
  start: number,
  row: number,
): Dependency {
  const [from, to] = [Math.max(start, row - rowsAgo), row].map((at) =>
    formatTime(time.values[at]!, time.type),
  );
  return { field, from: from!, to: to!, ofAllSymbols: ofAllLanes };
}
