/** Which rows of the input are for the same cell of the panel; for the message only. */
import type { DataError } from "../errors.ts";
import { queryRows } from "./database.ts";
import { duplicateRow } from "./errors.ts";
import type { PanelLayout } from "./panel_layout.ts";
import { placeOf, type Relation } from "./relation.ts";
import { formatTime } from "./time_text.ts";

/** The error for the first row, in file order, whose time and symbol an earlier row has. */
export async function describeDuplicate(
  relation: Relation,
  { times, symbolSql }: PanelLayout,
): Promise<DataError> {
  const [row] = await queryRows(
    relation.database,
    `SELECT time, symbol, CAST(twoFirst[1] AS DOUBLE), CAST(twoFirst[2] AS DOUBLE)
     FROM (
       SELECT time, symbol, min(rowNumber, 2) AS twoFirst
       FROM (SELECT row_number() OVER () AS rowNumber, ${times.timeSql} AS time, ${symbolSql} AS symbol FROM raw)
       GROUP BY time, symbol HAVING count(*) > 1
     ) ORDER BY twoFirst[2] LIMIT 1`,
  );
  const [time, symbol, first, second] = row!;
  return duplicateRow(
    relation.file,
    formatTime(time as bigint, times.column.type),
    String(symbol),
    await placeOf(relation, Number(first)),
    await placeOf(relation, Number(second)),
  );
}
