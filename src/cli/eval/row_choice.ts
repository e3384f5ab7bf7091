import type { PanelSource } from "../../data/panel/panel_source.ts";
import { rowsWithin } from "../../evaluation/row_range.ts";
import type { TimeColumn } from "../../panel.ts";
import { laneOf, rowOf } from "../../reasons/cell_of_panel.ts";
import { type ResultFlags, SHOWN_ROWS_MAX } from "./result_flags.ts";

/** Which rows of a result are printed. */
export interface RowChoice {
  /** Of the rows that fit, those at the start or at the end. */
  readonly edge: "head" | "tail";
  readonly count: number;
  /** Null for all lanes. */
  readonly lanes: ReadonlySet<number> | null;
  /** Null for all times. */
  readonly time: bigint | null;
}

const ROWS_DEFAULT = 5;

/**
 * The rows that the options ask for: of a time all, otherwise 5 or one for each named symbol, unless there is a count.
 *
 * @throws DataError E344 for a symbol and for a time that the result lacks; UsageError E541 for what is no time.
 */
export async function rowChoice(
  { symbols, time }: Pick<PanelSource, "symbols" | "time">,
  options: Pick<ResultFlags, "tail" | "head" | "symbols" | "at">,
  range: Parameters<typeof rowsWithin>[1],
): Promise<RowChoice> {
  const lanes = options.symbols?.map((symbol) => laneOf({ symbols }, symbol));
  const at = options.at === undefined ? null : await timeOf(time, options.at, range);
  const count = at === null ? Math.max(ROWS_DEFAULT, lanes?.length ?? 0) : SHOWN_ROWS_MAX;
  return {
    edge: options.head === undefined ? "tail" : "head",
    count: options.head ?? options.tail ?? count,
    lanes: lanes === undefined ? null : new Set(lanes),
    time: at,
  };
}

async function timeOf(
  time: TimeColumn,
  at: string,
  range: Parameters<typeof rowsWithin>[1],
): Promise<bigint> {
  const { first, end } = await rowsWithin(time, range);
  const values = time.values.subarray(first, end);
  return values[await rowOf({ time: { ...time, values } }, at, "the result has")]!;
}
