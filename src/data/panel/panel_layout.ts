/** The shape of a relation's panel: its times, its symbols, which columns are fields and which are groups. */
import type { TimeColumn } from "../../panel.ts";
import { createKnownLabels, createLabels, type Labels } from "../duckdb/labels.ts";
import {
  changedMeanwhile,
  type InputColumn,
  missingSymbol,
  type Relation,
  symbolSql,
} from "../duckdb/relation.ts";
import { columnTypeUnusable } from "../errors.ts";
import { assignRoles, type ColumnRoles, possibleRoles } from "../read/column_roles.ts";
import { createKnownTimes, createTimes, type PanelTimes } from "./time_column.ts";

export interface PanelLayout {
  /** One per panel row. */
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
 * @throws DataError for key columns with an empty cell or of a wrong type, and for text among numbers.
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

/** Times and symbols of a panel, known from an earlier opening of the same file. */
export interface PanelShape {
  readonly time: TimeColumn;
  readonly symbols: readonly string[];
}

/**
 * Lays out a panel of known shape without reading its rows. Columns of text are available as fields and as groups: the caller
 * knows what they are.
 *
 * @throws DataError E303 if the file does not match the shape.
 */
export async function layOutKnownPanel(
  relation: Relation,
  { time, symbols }: PanelShape,
): Promise<PanelLayout> {
  const { database, columns, keys } = relation;
  const symbol = columns[keys.symbol ?? -1];
  if (symbol === undefined || symbol.kind === "ignored") throw changedMeanwhile(relation);
  const sql = symbolSql(symbol);
  const times = await createKnownTimes(relation, time);
  const column = { sql, dictionary: symbol.dictionary };
  const labels = await createKnownLabels(database, "lanes", column, symbols);
  return { times, symbols: labels, symbolSql: sql, roles: possibleRoles(relation) };
}

async function labelSymbols(relation: Relation, symbol: InputColumn): Promise<Labels> {
  const sql = symbolSql(symbol);
  const symbols = await createLabels(relation.database, "lanes", { sql, dictionary: symbol.dictionary });
  if (!symbols.hasNull) return symbols;
  throw await missingSymbol(relation, symbol);
}
