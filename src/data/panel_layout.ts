/** The shape of a relation's panel: its times, its symbols, which columns are fields and which are groups. */
import { assignRoles, type ColumnRoles } from "./column_roles.ts";
import { columnTypeUnusable, emptyKey } from "./errors.ts";
import { createLabels, type Labels } from "./labels.ts";
import { firstRowWhere, type Relation, symbolSql } from "./relation.ts";
import { createTimes, type PanelTimes } from "./time_column.ts";

export interface PanelLayout {
  /** One per panel row; the table `times` numbers them. */
  readonly times: PanelTimes;
  /** One per lane; the table `lanes` numbers them. */
  readonly symbols: Labels;
  /** Expression over `raw` that equals `lanes.label`. */
  readonly symbolSql: string;
  readonly roles: ColumnRoles;
  /** Labels of each group column; the tables `group0`, `group1`, ... number them. */
  readonly groupLabels: readonly Labels[];
}

/** The symbol of every row of a table that has none. */
const ONE_LANE_SQL = "''";

/**
 * Lays out the panel and creates the tables that number its times, symbols and labels.
 *
 * @throws DataError for key columns that are empty in some row or of a wrong type, and for text among numbers.
 */
export async function layOutPanel(relation: Relation): Promise<PanelLayout> {
  const { database, file, columns, keys } = relation;
  const symbol = keys.symbol === null ? null : columns[keys.symbol]!;
  if (symbol?.kind === "ignored") throw columnTypeUnusable(file, "symbol", symbol.name, symbol.typeName);
  const times = await createTimes(relation);
  const laneSql = symbol === null ? ONE_LANE_SQL : symbolSql(symbol);
  const symbols = await createLabels(database, "lanes", laneSql);
  if (symbols.hasNull) {
    const { place } = await firstRowWhere(relation, `(${laneSql}) IS NULL`, "''");
    throw emptyKey(file, "symbol", symbol?.name ?? "", place);
  }
  const roles = await assignRoles(relation);
  const groupLabels: Labels[] = [];
  for (const [index, group] of roles.groups.entries()) {
    groupLabels.push(await createLabels(database, `group${index}`, group.sql));
  }
  return { times, symbols, symbolSql: laneSql, roles, groupLabels };
}
