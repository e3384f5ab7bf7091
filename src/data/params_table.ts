/** Values of params that change over time, from a table: one line per time, one column per param. */
import type { Panel } from "../panel.ts";
import { buildPanel } from "./build_panel.ts";
import { openDatabase } from "./database.ts";
import { findSeriesKeys } from "./key_columns.ts";
import { openRelation } from "./open_relation.ts";
import { querying } from "./relation.ts";
import { rowsByTime } from "./rows_by_time.ts";

/**
 * The values of each panel row by the names of the columns; empty cells and times that the table lacks give none.
 *
 * @throws DataError for a table without time column, a time twice, times of another kind than the panel's.
 */
export async function readParamsTable(
  file: string,
  { time }: Panel,
): Promise<ReadonlyMap<string, number | string>[]> {
  using database = await openDatabase();
  const relation = await openRelation(database, file, (names) => findSeriesKeys(file, names, undefined));
  const table = await querying(relation, () => buildPanel(relation));
  const rowOfTime = rowsByTime(table.time, file, time, "the panel");
  return Array.from(time.values, (at) => {
    const row = rowOfTime.get(at);
    return row === undefined ? new Map<string, number | string>() : valuesAt(table, row);
  });
}

function valuesAt({ fields, groups }: Panel, row: number): Map<string, number | string> {
  const values = new Map<string, number | string>();
  for (const [name, column] of fields)
    if (!Number.isNaN(column[row])) values.set(name, column[row] as number);
  for (const [name, { labels, codes }] of groups) {
    const label = labels[codes[row] as number];
    if (label !== undefined) values.set(name, label);
  }
  return values;
}
