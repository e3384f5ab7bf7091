/** Series that are the same for all symbols, from a table of their own: one line per time. */
import type { Panel } from "../panel.ts";
import { buildPanel } from "./build_panel.ts";
import { openDatabase } from "./database.ts";
import { columnNameTaken } from "./errors.ts";
import { findSeriesKeys } from "./key_columns.ts";
import { openRelation } from "./open_relation.ts";
import { querying } from "./relation.ts";
import { rowsByTime } from "./rows_by_time.ts";

/**
 * Reads the table and gives one field per numeric column, its value of each time on every lane of the panel; null at
 * times that the table lacks, while times that the panel lacks are passed over.
 *
 * @throws DataError for a table without time column, a time twice, times of another type, a name that is taken.
 */
export async function readSeriesTable(
  file: string,
  panel: Panel,
  panelFile: string,
  timeColumn: string | undefined,
): Promise<[name: string, values: Float64Array<SharedArrayBuffer>][]> {
  using database = await openDatabase();
  const relation = await openRelation(database, file, (names) => findSeriesKeys(file, names, timeColumn));
  const table = await querying(relation, () => buildPanel(relation));
  const rowOfTime = rowsByTime(table.time, file, panel.time, panelFile);
  const taken = [panel.time.name, "symbol", ...panel.fields.keys(), ...panel.groups.keys()];
  return [...table.fields].map(([name, values]) => {
    const clash = taken.find((other) => other.toLowerCase() === name.toLowerCase());
    if (clash !== undefined) throw columnNameTaken(file, name, panelFile, clash);
    return [name, broadcast(values, rowOfTime, panel)];
  });
}

function broadcast(
  values: Float64Array,
  rowOfTime: ReadonlyMap<bigint, number>,
  { time, rowCount, laneCount }: Panel,
): Float64Array<SharedArrayBuffer> {
  const column = new Float64Array(new SharedArrayBuffer(rowCount * laneCount * 8));
  time.values.forEach((at, row) => {
    const value = values[rowOfTime.get(at) ?? -1] ?? Number.NaN;
    column.fill(value, row * laneCount, (row + 1) * laneCount);
  });
  return column;
}
