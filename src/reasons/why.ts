import { CallParams, type ParamOptions } from "../call_params.ts";
import { finalDag, type Program } from "../compile.ts";
import type { PanelSource } from "../data/panel/panel_source.ts";
import { partOfSource } from "../data/panel/part_of_source.ts";
import { formatTime } from "../data/time/time_text.ts";
import type { EngineHost } from "../evaluation/evaluation.ts";
import { checkSelect } from "../evaluation/wanted_factors.ts";
import type { Registry } from "../operator/registry.ts";
import type { OptionNames } from "../text/option_names.ts";
import { isBad } from "./blame.ts";
import { laneOf, noRowOfSymbol, rowOf } from "./cell_of_panel.ts";
import { CellReasons } from "./cell_reasons.ts";
import { type FieldReach, reachOf } from "./dependencies.ts";
import type { Dependency, Explanation } from "./explanation.ts";
import { LaneTrace } from "./lane_trace.ts";
import { readsRow } from "./row_cause.ts";
import { tracedBlocks } from "./traced_blocks.ts";
import { traceProgram } from "./traced_program.ts";

/** The cell that is explained, and the options of the call that computed it. */
export interface WhyOptions extends ParamOptions {
  readonly factor: string;
  readonly symbol: string;
  /** A time of the data, e.g. `"2018-03-02"`. */
  readonly time: string | Date;
  /** As of `evaluate`: an infinity is then a value and not a null. */
  readonly keepInfinite?: boolean;
  readonly signal?: AbortSignal;
}

export const WHY_OPTIONS: OptionNames<WhyOptions> = {
  factor: true,
  symbol: true,
  time: true,
  params: true,
  paramsByTime: true,
  keepInfinite: true,
  signal: true,
};

/**
 * Explains a cell of a factor.
 *
 * Computes the sub-expressions as written, for the rows that the cell depends on: with a window-based formula no row
 * before them is read.
 *
 * @throws UsageError E506 for an unknown factor, E541 for a time that does not fit; DataError E344, E345, E346 for a
 *   time, a symbol or a row that the data lack; else as `evaluate`.
 */
export async function explainFactorCell(
  host: EngineHost,
  registry: Registry,
  program: Program,
  source: PanelSource,
  options: WhyOptions,
): Promise<Explanation> {
  const { factor, symbol } = options;
  checkSelect(program, [factor]);
  const lane = laneOf(source, symbol);
  const row = await rowOf(source, options.time);
  const traced = traceProgram(program, [factor]);
  const root = traced.roots.get(factor)!;
  const reach = reachOf(traced.tasks, root, traced.universe);
  const rowsAgo = reach.reduce((most, field) => Math.max(most, field.rowsAgo), 0);
  const rows = { first: Math.max(0, row - rowsAgo), end: row + 1 };
  const isAlone = !traced.tasks.some(readsRow);
  const part = partOfSource(source, { rows, lane: isAlone ? lane : null });
  const trace = new LaneTrace(traced.tasks, isAlone ? 0 : lane, rows);
  const { params = {}, paramsByTime, signal } = options;
  const call = { params, ...(paramsByTime && { paramsByTime }), ...(signal && { signal }) };
  for await (const block of tracedBlocks(host, registry, traced, part, call)) trace.take(block);
  const { type } = source.time;
  const last = row - rows.first;
  const time = formatTime(source.time.values[row]!, type);
  if (trace.present[last] === 0) throw noRowOfSymbol(symbol, time, await nearestTimes(source, lane, row));
  const bound = program.written.bound.factors.find(({ name }) => name === factor)!;
  const reasons = new CellReasons({
    expression: bound.expression,
    source: program.written.source,
    taskOf: traced.taskOf,
    trace,
    timeType: type,
  });
  const isWanted = await isFactorWanted(program, registry, source, row, factor, options);
  const value = trace.value(root, last);
  const isNull = Number.isNaN(value) || (isBad(value) && options.keepInfinite !== true) || !isWanted;
  const chain = !isNull ? [] : isWanted ? reasons.chain(last) : [reasons.unwanted(last)];
  return {
    factor,
    symbol,
    time,
    value: isNull ? null : value,
    cause: chain.at(-1)?.cause ?? null,
    expression: reasons.tree(last),
    chain,
    dependsOn: reach.map((field) => dependencyOf(field, source, row)),
  };
}

async function isFactorWanted(
  program: Program,
  registry: Registry,
  { time }: PanelSource,
  row: number,
  factor: string,
  options: ParamOptions,
): Promise<boolean> {
  const { condition } = finalDag(program).outputs.find(({ name }) => name === factor)!;
  if (condition === null) return true;
  const params = await CallParams.of(program, time.type, options, registry);
  return params.isWanted(condition, params.setsAt(time.values.subarray(row, row + 1)));
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
  row: number,
): Dependency {
  const [from, to] = [Math.max(0, row - rowsAgo), row].map((at) => formatTime(time.values[at]!, time.type));
  return { field, from: from!, to: to!, ofAllSymbols: ofAllLanes };
}
