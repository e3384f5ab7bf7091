/** A file of the user's into a panel. */
import type { Panel } from "../panel.ts";
import { buildPanel } from "./build_panel.ts";
import { openDatabase } from "./database.ts";
import { renamedMissing, renamedTaken } from "./errors.ts";
import { readGroupTable } from "./group_table.ts";
import { findPanelKeys } from "./key_columns.ts";
import { openRelation } from "./open_relation.ts";
import { querying } from "./relation.ts";
import { readSeriesTable } from "./series_table.ts";

export interface ReadPanelOptions {
  /** Path of a table with a symbol column and columns of groups that are the same at all times, e.g. `sector`. */
  readonly groups?: string;
  /** Path of a table with a time column and numbers that hold for all symbols at that time, e.g. an index's close. */
  readonly series?: string;
  /** New names of columns: `{ close: "px_last" }` makes the field `close` of the column `px_last`. */
  readonly rename?: Readonly<Record<string, string>>;
  /** Name of the time column, when it is not time, date, datetime or timestamp. */
  readonly timeColumn?: string;
  /** Name of the symbol column, when it is not symbol. */
  readonly symbolColumn?: string;
}

/**
 * Reads a long table (one line per time and symbol, in any order) into a dense panel `[rows x lanes]`: rows are the
 * distinct times ascending, lanes the distinct symbols in code-unit order. Formats by extension: .csv, .tsv (also
 * .gz), .parquet, .arrow, .feather, .ipc. Columns of numbers become fields, columns of text become groups that
 * change over time; dates beside the time column, nested, binary and unnamed columns are not read. Null is NaN in
 * fields and -1 in groups; a cell without a row of input is null and not present.
 *
 * @throws DataError (E301-E333) naming the file and what is wrong with it.
 * @throws ResourceError E441 when the dense panel would not fit in memory.
 * @example const panel = await readPanel("bars.parquet", { groups: "sectors.csv" });
 */
export async function readPanel(path: string, options: ReadPanelOptions = {}): Promise<Panel> {
  using database = await openDatabase();
  const { timeColumn, symbolColumn } = options;
  const relation = await openRelation(database, path, (names) =>
    findPanelKeys(path, names, timeColumn, symbolColumn),
  );
  const panel = await querying(relation, () => buildPanel(relation));
  return await addTables(renameColumns(panel, path, options.rename ?? {}), path, options);
}

/** Adds the groups and the series that stand in tables of their own. */
async function addTables(panel: Panel, path: string, options: ReadPanelOptions): Promise<Panel> {
  const { groups, series, symbolColumn, timeColumn } = options;
  const added = groups === undefined ? [] : await readGroupTable(groups, panel, path, symbolColumn);
  const withGroups = {
    ...panel,
    groups: new Map([...panel.groups, ...added.map((group) => [group.name, group] as const)]),
  };
  if (series === undefined) return withGroups;
  const fields = await readSeriesTable(series, withGroups, path, timeColumn);
  return { ...withGroups, fields: new Map([...withGroups.fields, ...fields]) };
}

/** The panel with its columns called as `rename` says: `{ close: "px_last" }` makes `close` of `px_last`. */
function renameColumns(panel: Panel, path: string, rename: Readonly<Record<string, string>>): Panel {
  const newNames = new Map<string, string>();
  for (const [name, column] of Object.entries(rename)) {
    const known = [...panel.fields.keys(), ...panel.groups.keys()];
    if (!known.includes(column)) throw renamedMissing(path, column, name, known);
    if (known.includes(name) && !Object.values(rename).includes(name)) throw renamedTaken(path, column, name);
    newNames.set(column, name);
  }
  const nameOf = (name: string) => newNames.get(name) ?? name;
  return {
    ...panel,
    fields: new Map([...panel.fields].map(([name, values]) => [nameOf(name), values])),
    groups: new Map(
      [...panel.groups].map(([name, group]) => [nameOf(name), { ...group, name: nameOf(name) }]),
    ),
  };
}
