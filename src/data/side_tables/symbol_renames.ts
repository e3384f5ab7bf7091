/** Instruments that have changed their names, from a separate table: one line for each change. */
import type { TimeType } from "../../panel.ts";
import { openDatabase, queryRows, ReusedDatabases, sqlText } from "../duckdb/database.ts";
import { type InputColumn, placeOf, querying, type Relation, symbolSql } from "../duckdb/relation.ts";
import { timeTextInvalid } from "../errors.ts";
import type { SymbolRenaming } from "../panel/panel_layout.ts";
import { openRelation } from "../read/open_relation.ts";
import { parseTimeText } from "../time/time_text.ts";
import { renameIncomplete, renameInvalid, renameTwice } from "./errors.ts";

const COLUMNS = ["old", "new", "from"] as const;

/** From a time on an instrument has another name. */
interface Rename {
  readonly old: string;
  readonly new: string;
  readonly from: bigint;
}

/**
 * Names symbols by the table `old, new, from`: a row of the symbol `old` at a time before `from` is of the instrument that is
 * called `new` later, and gets the last of its names. From `from` on, `old` is whatever has that name then.
 *
 * @returns a function that throws DataError E331 for a table without these columns, an empty cell, an old name that is the
 *   new one, and two changes of a name at one time; E316 for a `from` that is no time of the kind of the bars
 */
export function symbolRenaming(file: string): SymbolRenaming {
  return async (symbolSql, timeSql, type) => {
    const renames = (await readChanges(file, type)).sort((a, b) => (a.from < b.from ? -1 : 1));
    const changesOf = Map.groupBy(renames, (change) => change.old);
    const lastName = ({ new: name, from }: Rename): string => {
      const next = changesOf.get(name)?.find((change) => change.from > from);
      return next === undefined ? name : lastName(next);
    };
    const cases = renames.map((change) => {
      const isEarlier = `${symbolSql} = ${sqlText(change.old)} AND ${timeSql} < ${change.from}`;
      return `WHEN ${isEarlier} THEN ${sqlText(lastName(change))}`;
    });
    // Most rows keep their names: only the others go through all cases.
    const old = [...changesOf.keys()].map(sqlText).join(", ");
    return `CASE WHEN ${symbolSql} IN (${old}) THEN CASE ${cases.join(" ")} ELSE ${symbolSql} END ELSE ${symbolSql} END`;
  };
}

async function readChanges(file: string, type: TimeType): Promise<Rename[]> {
  using database = await openDatabase();
  const relation = await openRelation(database, file, () => ({ time: null, symbol: null }));
  const texts = await querying(relation, async () => {
    const [old, renamed, from] = COLUMNS.map((name) => columnNamed(relation, name)) as [
      InputColumn,
      InputColumn,
      InputColumn,
    ];
    const columns = [symbolSql(old), symbolSql(renamed), `nullif(CAST(${from.id} AS VARCHAR), '')`];
    return (await queryRows(database, `SELECT ${columns.join(", ")} FROM raw`)) as (string | null)[][];
  });
  using databases = new ReusedDatabases();
  const changes: Rename[] = [];
  const known = new Map<string, number>();
  for (const [index, cells] of texts.entries()) {
    const empty = cells.indexOf(null);
    const place = await placeOf(relation, index + 1);
    if (empty >= 0) throw renameIncomplete(file, COLUMNS[empty]!, place);
    const [old, renamed, fromText] = cells as [string, string, string];
    if (old === renamed) throw renameInvalid(file, old, place);
    const from = await parseTimeText(fromText, type, "from", databases.open).catch(() => {
      throw timeTextInvalid(file, "from", fromText, place);
    });
    const earlier = known.get(`${from} ${old}`);
    if (earlier !== undefined) throw renameTwice(file, old, await placeOf(relation, earlier), place);
    known.set(`${from} ${old}`, index + 1);
    changes.push({ old, new: renamed, from });
  }
  return changes;
}

function columnNamed({ file, columns }: Relation, name: string): InputColumn {
  const column = columns.find((one) => one.name.toLowerCase() === name);
  if (column === undefined) throw renameIncomplete(file, name, null);
  return column;
}
