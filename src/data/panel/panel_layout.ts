/** The shape of a relation's panel: its times, its symbols, which columns are fields and which are groups. */
import type { TimeColumn, TimeType } from "../../panel.ts";
import { createKnownLabels, createLabels, type Labels, type TextColumn } from "../duckdb/labels.ts";
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

/** Times and symbols of a panel, known from an earlier opening of the same file. */
export interface PanelShape {
  readonly time: TimeColumn;
  readonly symbols: readonly string[];
}

export interface LayoutOptions {
  readonly known?: PanelShape | undefined;
  /** Gives the symbols of rows other names, by their times. */
  readonly rename?: SymbolRenaming | undefined;
}

/** The SQL of the symbol that a row counts for, of those of the symbol and of the time that it has in the file. */
export type SymbolRenaming = (symbolSql: string, timeSql: string, type: TimeType) => Promise<string>;

/**
 * Lays out the panel. One of known shape is laid out without reading its rows; its columns of text are available as fields
 * and as groups: the caller knows what they are.
 *
 * @throws DataError for key columns with an empty cell or of a wrong type, and for text among numbers; E303 if the file does
 *   not match the known shape.
 */
export async function layOutPanel(
  relation: Relation,
  { known, rename }: LayoutOptions = {},
): Promise<PanelLayout> {
  const { file, columns, keys } = relation;
  const symbol = keys.symbol === null ? null : columns[keys.symbol]!;
  if (symbol?.kind === "ignored")
    throw known
      ? changedMeanwhile(relation)
      : columnTypeUnusable(file, "symbol", symbol.name, symbol.typeName);
  const times = known ? await createKnownTimes(relation, known.time) : await createTimes(relation);
  const roles = known ? possibleRoles(relation) : await assignRoles(relation);
  if (symbol === null) return { times, symbols: NO_SYMBOLS, symbolSql: "''", roles };
  const inFile: TextColumn = { sql: symbolSql(symbol), dictionary: symbol.dictionary };
  const renamed = await rename?.(inFile.sql, times.timeSql, times.column.type);
  const column = renamed === undefined ? inFile : { sql: renamed };
  const symbols = await labelSymbols(relation, symbol, column, known?.symbols);
  return { times, symbols, symbolSql: column.sql, roles };
}

async function labelSymbols(
  relation: Relation,
  symbol: InputColumn,
  column: TextColumn,
  known: readonly string[] | undefined,
): Promise<Labels> {
  const { database } = relation;
  if (known) return await createKnownLabels(database, "lanes", column, known);
  const symbols = await createLabels(database, "lanes", column);
  if (symbols.hasNull) throw await missingSymbol(relation, symbol);
  return symbols;
}
