/** A file of the user's into a panel. */
import type { GroupColumn, Panel } from "../panel.ts";
import { openDatabase } from "./database.ts";
import { describeDuplicate } from "./duplicate_rows.ts";
import { readGroupTable } from "./group_table.ts";
import { findPanelKeys } from "./key_columns.ts";
import type { Labels } from "./labels.ts";
import { openRelation } from "./open_relation.ts";
import { allocateCells, scatterRows } from "./panel_cells.ts";
import { layOutPanel } from "./panel_layout.ts";
import { querying, type Relation } from "./relation.ts";

export interface ReadPanelOptions {
  /** Path of a table with a symbol column and columns of groups that are the same at all times, e.g. `sector`. */
  readonly groups?: string;
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
  const { timeColumn, symbolColumn, groups } = options;
  const relation = await openRelation(database, path, (names) =>
    findPanelKeys(path, names, timeColumn, symbolColumn),
  );
  const panel = await querying(relation, () => buildPanel(relation));
  if (groups === undefined) return panel;
  const staticGroups = await readGroupTable(groups, panel, path, symbolColumn);
  return {
    ...panel,
    groups: new Map([...panel.groups, ...staticGroups.map((group) => [group.name, group] as const)]),
  };
}

async function buildPanel(relation: Relation): Promise<Panel> {
  const layout = await layOutPanel(relation);
  const cells = allocateCells(relation, layout);
  const isUnique = await scatterRows(relation, layout, cells);
  if (!isUnique) throw await describeDuplicate(relation, layout);
  const { times, symbols, roles, groupLabels } = layout;
  const groups = roles.groups.map(({ name }, index) =>
    groupColumn(name, groupLabels[index]!, cells.groups[index]!),
  );
  return {
    rowCount: times.column.values.length,
    laneCount: symbols.sorted.length,
    time: times.column,
    symbols: symbols.sorted,
    fields: new Map(roles.fields.map(({ name }, index) => [name, cells.fields[index]!])),
    groups: new Map(groups.map((group) => [group.name, group])),
    present: cells.present,
  };
}

function groupColumn(name: string, labels: Labels, codes: Int32Array<SharedArrayBuffer>): GroupColumn {
  return { name, labels: labels.sorted, codes, changesOverTime: true };
}
