/** The shape of a relation's panel: its times, its symbols, which columns are fields and which are groups. */
import { assignRoles, type ColumnRoles } from "./column_roles.ts";
import { columnTypeUnusable, emptyKey } from "./errors.ts";
import { createLabels, type Labels } from "./labels.ts";
import { firstRowWhere, type InputColumn, type Relation, symbolSql } from "./relation.ts";
import { createTimes, type PanelTimes } from "./time_column.ts";

export interface PanelLayout {
  /** One per panel row; the table `times` numbers them. */
  readonly times: PanelTimes;
  /** One per lane. */
  readonly symbols: Labels;
  /** The symbol of each row of `raw`. */
  readonly symbolSql: string;
  readonly roles: ColumnRoles;
}

/** The symbol of every row of a table that has none. */
const NO_SYMBOLS: Labels = {
  sorted: [""],
  codeSql: "CAST(0 AS INTEGER)",
  positionOfCode: null,
  hasNull: false,
};

/**
 * Lays out the panel.
 *
 * @throws DataError for key columns that are empty in some row or of a wrong type, and for text among numbers.
 */
export async function layOutPanel(relation: Relation): Promise<PanelLayout> {
  const { file, columns, keys } = relation;
  const symbol = keys.symbol === null ? null : columns[keys.symbol]!;
  if (symbol?.kind === "ignored") throw columnTypeUnusable(file, "symbol", symbol.name, symbol.typeName);
  const times = await createTimes(relation);
  const symbols = symbol === null ? NO_SYMBOLS : await labelSymbols(relation, symbol);
  const roles = await assignRoles(relation);
  return { times, symbols, symbolSql: symbol === null ? "''" : symbolSql(symbol), roles };
}

async function labelSymbols(relation: Relation, symbol: InputColumn): Promise<Labels> {
  const sql = symbolSql(symbol);
  const symbols = await createLabels(relation.database, "lanes", { sql, dictionary: symbol.dictionary });
  if (!symbols.hasNull) return symbols;
  const { place } = await firstRowWhere(relation, `(${sql}) IS NULL`, "''");
  throw emptyKey(relation.file, "symbol", symbol.name, place);
}
