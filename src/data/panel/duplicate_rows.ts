/** Finds the rows of the input for the same cell of the panel, for the message. */
import type { DataError } from "../../errors.ts";
import { queryRows } from "../duckdb/database.ts";
import { placeOf, type Relation } from "../duckdb/relation.ts";
import { duplicateRow } from "../errors.ts";
import { formatTime } from "../time/time_text.ts";
import type { PanelLayout } from "./panel_layout.ts";

/** Times and symbols that the message names. */
const NAMED_MAX = 10;

/** The error for the first row, in file order, that repeats the time and symbol of an earlier one; it names others. */
export async function describeDuplicate(
  relation: Relation,
  { times, symbolSql }: PanelLayout,
): Promise<DataError> {
  const rows = await queryRows(
    relation.database,
    `SELECT time, symbol, CAST(twoFirst[1] AS DOUBLE), CAST(twoFirst[2] AS DOUBLE), CAST(count(*) OVER () AS DOUBLE)
     FROM (
       SELECT time, symbol, min(rowNumber, 2) AS twoFirst
       FROM (SELECT row_number() OVER () AS rowNumber, ${times.timeSql} AS time, ${symbolSql} AS symbol FROM raw)
       GROUP BY time, symbol HAVING count(*) > 1
     ) ORDER BY twoFirst[2] LIMIT ${NAMED_MAX}`,
  );
  const [, , first, second, count] = rows[0]!;
  return duplicateRow(
    relation.file,
    rows.map(([time, symbol]) => [formatTime(time as bigint, times.column.type), String(symbol)]),
    Number(count),
    await placeOf(relation, Number(first)),
    await placeOf(relation, Number(second)),
    relation.columns[relation.keys.time ?? -1]?.time?.cut,
  );
}
