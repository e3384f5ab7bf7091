import type { PanelSource } from "../data/panel/panel_source.ts";
import { formatTime } from "../data/time/time_text.ts";
import { DataError } from "../errors.ts";
import { rowsWithin } from "../evaluation/row_range.ts";
import { suggestion } from "../text/suggest.ts";

const SHOWN_SYMBOLS_MAX = 8;

/** The lane of a symbol. @throws DataError E344 for a symbol that the data lack, with the nearest one. */
export function laneOf({ symbols }: Pick<PanelSource, "symbols">, symbol: string): number {
  const lane = symbols.indexOf(symbol);
  if (lane >= 0) return lane;
  const shown = symbols.slice(0, SHOWN_SYMBOLS_MAX).join(", ");
  const all = `symbols: ${shown}${symbols.length > SHOWN_SYMBOLS_MAX ? " ..." : ""}`;
  throw new DataError("E344", `the data have no symbol ${symbol}`, suggestion(symbol, symbols, all));
}

/**
 * The row of a time.
 *
 * @param who the start of the message for a time that is not there
 * @throws UsageError E541 for a time that does not fit the data; DataError E344 if there is no such time, or if a day
 *   has several.
 */
export async function rowOf(
  { time }: Pick<PanelSource, "time">,
  wanted: string | Date,
  who = "the data have",
): Promise<number> {
  const { first, end } = await rowsWithin(time, { from: wanted, to: wanted });
  if (end === first + 1) return first;
  const text = wanted instanceof Date ? wanted.toISOString() : wanted;
  const shown = (rows: readonly number[]) =>
    rows
      .filter((row) => row >= 0 && row < time.values.length)
      .map((row) => formatTime(time.values[row]!, time.type))
      .join(" and ");
  if (end > first)
    throw noSuchCell(
      `${text} has ${end - first} times in the data`,
      `give one of them, e.g. ${shown([first])} or ${shown([end - 1])}`,
    );
  throw noSuchCell(`${who} no time ${text}`, `the nearest are ${shown([first - 1, first])}`);
}

/** The error for a cell that the data lack. */
export function noSuchCell(problem: string, remedy: string): DataError {
  return new DataError("E344", problem, remedy);
}
