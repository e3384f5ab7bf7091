/** Values of params that change over time, from a table: one line per time, one column per param. */
import type { Panel, TimeType } from "../../panel.ts";
import { findSideKey } from "../panel/key_columns.ts";
import { rowsByTime } from "../time/rows_by_time.ts";
import { readTimeTable } from "./time_table.ts";

/**
 * The values of each time by the names of the columns, without empty cells. Times are values of a column of the given type,
 * without those that it cannot hold.
 *
 * @throws DataError for a table without time column, a repeated time, times of another kind than the panel's.
 */
export async function readParamsTable(
  file: string,
  timeType: TimeType,
): Promise<Map<bigint, ReadonlyMap<string, number | string>>> {
  const { table } = await readTimeTable(file, (names) => findSideKey(file, names, "time", undefined));
  const rows = rowsByTime(table.time, file, { type: timeType }, "the panel");
  return new Map([...rows].map(([time, row]) => [time, valuesAt(table, row)]));
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
