/** Warns of panels in which every row has one instrument. */
import { queryRows } from "../duckdb/database.ts";
import type { Relation } from "../duckdb/relation.ts";
import { quoted } from "../errors.ts";
import { formatTime } from "../time/time_text.ts";
import type { PanelLayout } from "./panel_layout.ts";

/**
 * Warns if there are several symbols and no two of them share a time: bars of exchanges that are each at their own midnight,
 * for example. Operators across the row then see one instrument: `rank` is 1 everywhere. Reads one row more than there are
 * times.
 */
export async function warnOfLoneRows(relation: Relation, layout: PanelLayout): Promise<void> {
  const { times, symbols, symbolSql } = layout;
  const { values, type } = times.column;
  if (symbols.sorted.length < 2) return;
  const { database, file } = relation;
  const [counted] = await queryRows(
    database,
    `SELECT CAST(count(*) AS DOUBLE) FROM (SELECT 1 FROM raw LIMIT ${values.length + 1})`,
  );
  if (Number(counted?.[0]) > values.length) return;
  const [nearest] = await queryRows(
    database,
    `SELECT symbol, time, otherSymbol, otherTime
     FROM (
       SELECT symbol, time, lag(symbol) OVER byTime AS otherSymbol, lag(time) OVER byTime AS otherTime
       FROM (SELECT ${symbolSql} AS symbol, ${times.timeSql} AS time FROM raw) WINDOW byTime AS (ORDER BY time)
     ) WHERE symbol <> otherSymbol ORDER BY CAST(time AS HUGEINT) - otherTime, time LIMIT 1`,
  );
  const [symbol, time, otherSymbol, otherTime] = nearest!;
  const shown = (name: unknown, at: unknown) =>
    `${quoted(String(name))} at ${formatTime(at as bigint, type)}`;
  process.emitWarning(
    `${file}: no time has rows of two symbols, so that rank and other operators across the row see one alone: ${shown(otherSymbol, otherTime)}, ${shown(symbol, time)}; give bars that belong together the same time, e.g. their date`,
    "FactorloomWarning",
  );
}
