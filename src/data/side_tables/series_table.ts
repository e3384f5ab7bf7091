/** Series that are the same for all symbols, from a separate table: one line per time. */
import type { TimeColumn } from "../../panel.ts";
import { findSideKey, symbolColumnAmong } from "../panel/key_columns.ts";
import type { PanelSource } from "../panel/panel_source.ts";
import { rowsByTime } from "../time/rows_by_time.ts";
import { formatTime } from "../time/time_text.ts";
import { nothingBeside, seriesMatchNothing, seriesOfSymbols } from "./errors.ts";
import { checkNameIsFree } from "./group_table.ts";
import { readTimeTable } from "./time_table.ts";

/**
 * Reads the table: one series `[rows]` per numeric column, null at times that the table lacks. Ignores columns of text, and
 * times that the panel lacks.
 *
 * @throws DataError for a table without time column or without numbers, with a symbol column, a repeated time, times of another type, no time of
 *   the panel, or a name that is taken.
 */
export async function readSeriesTable(
  file: string,
  panel: Pick<PanelSource, "time" | "fieldNames" | "groupNames">,
  panelFile: string,
  timeColumn: string | undefined,
  symbolColumn: string | undefined,
): Promise<[name: string, values: Float64Array][]> {
  const { table, columns } = await readTimeTable(file, (names) => {
    const symbol = symbolColumnAmong(names, symbolColumn);
    if (symbol !== undefined) throw seriesOfSymbols(file, symbol);
    return findSideKey(file, names, "time", timeColumn);
  });
  if (table.fields.size === 0) throw nothingBeside(file, "time", columns);
  const rowOfTime = rowsByTime(table.time, file, panel.time, panelFile);
  const rows = Array.from(panel.time.values, (at) => rowOfTime.get(at) ?? -1);
  if (rows.length > 0 && rows.every((row) => row < 0)) {
    const firstOf = ({ values, type }: TimeColumn) => formatTime(values[0]!, type);
    throw seriesMatchNothing(file, firstOf(table.time), panelFile, firstOf(panel.time));
  }
  return [...table.fields].map(([name, values]) => {
    checkNameIsFree(file, name, panel, panelFile);
    return [name, Float64Array.from(rows, (row) => values[row] ?? Number.NaN)];
  });
}
