/** Groups that do not change over time, from a separate table: one line per symbol. */
import type { GroupColumn } from "../../panel.ts";
import { openDatabase, queryRows } from "../duckdb/database.ts";
import {
  type InputColumn,
  isWholeSql,
  missingSymbol,
  placeOf,
  querying,
  type Relation,
  symbolSql,
} from "../duckdb/relation.ts";
import { columnTypeUnusable, quoted } from "../errors.ts";
import { findSideKey } from "../panel/key_columns.ts";
import type { PanelSource } from "../panel/panel_source.ts";
import { openRelation } from "../read/open_relation.ts";
import { columnNameTaken, groupsMatchNothing, nothingBeside, symbolTwice } from "./errors.ts";

type PanelNames = Pick<PanelSource, "time" | "symbols" | "fieldNames" | "groupNames">;

/**
 * Reads the table: one group per column of text or whole numbers, with one code per lane of the panel; -1 for symbols that
 * the table lacks. Ignores symbols that the panel lacks.
 *
 * @param labelled symbols whose labels are known already: they need no row
 * @throws DataError for a table without symbol or group column, a repeated symbol, a name that the panel has already, or no
 *   symbol of the panel.
 */
export async function readGroupTable(
  file: string,
  panel: PanelNames,
  panelFile: string,
  symbolColumn: string | undefined,
  labelled: readonly string[] = [],
): Promise<GroupColumn[]> {
  using database = await openDatabase();
  const relation = await openRelation(database, file, (names) =>
    findSideKey(file, names, "symbol", symbolColumn),
  );
  return await querying(relation, async () => {
    const columns = await findGroupColumns(relation);
    for (const { name } of columns) checkNameIsFree(file, name, panel, panelFile);
    const labelsBySymbol = await readLabels(relation, columns);
    await checkSymbolsMatch(relation, panel.symbols, [...labelsBySymbol.keys()], labelled, panelFile);
    return columns.map(({ name }, index) => {
      const laneLabels = panel.symbols.map((symbol) => labelsBySymbol.get(symbol)?.[index] ?? null);
      return groupOfLabels(name, laneLabels);
    });
  });
}

/** Text, and columns of whole numbers, also as floats: pandas converts codes with gaps to floats. */
async function findGroupColumns(relation: Relation): Promise<InputColumn[]> {
  const others = relation.columns.filter(
    ({ kind }, index) => index !== relation.keys.symbol && kind !== "ignored",
  );
  const isWhole = others.map((column) => {
    if (column.kind === "text") return "true";
    return `bool_and(${column.id} IS NULL OR isnan(CAST(${column.id} AS DOUBLE)) OR ${isWholeSql(column)})`;
  });
  const [row] =
    others.length === 0 ? [] : await queryRows(relation.database, `SELECT ${isWhole.join(", ")} FROM raw`);
  const columns = others.filter((_, index) => row?.[index] === true);
  if (columns.length === 0) {
    throw nothingBeside(
      relation.file,
      "symbol",
      relation.columns.map(({ name }) => name),
    );
  }
  return columns;
}

/** @throws DataError E314 if the panel has a column of the name. */
export function checkNameIsFree(
  file: string,
  name: string,
  { time, fieldNames, groupNames }: Omit<PanelNames, "symbols">,
  panelFile: string,
): void {
  const taken = [time.name, "symbol", ...fieldNames, ...groupNames];
  const clash = taken.find((other) => other.toLowerCase() === name.toLowerCase());
  if (clash !== undefined) throw columnNameTaken(file, name, panelFile, clash);
}

/** The labels of each symbol, one per column, null where empty. */
async function readLabels(
  relation: Relation,
  columns: readonly InputColumn[],
): Promise<Map<string, readonly (string | null)[]>> {
  const symbol = relation.columns[relation.keys.symbol ?? -1]!;
  if (symbol.kind === "ignored")
    throw columnTypeUnusable(relation.file, "symbol", symbol.name, symbol.typeName);
  const texts = [symbol, ...columns].map(symbolSql);
  const rows = await queryRows(relation.database, `SELECT ${texts.join(", ")} FROM raw`);
  const labelsBySymbol = new Map<string, readonly (string | null)[]>();
  for (const [index, [key, ...labels]] of (rows as (string | null)[][]).entries()) {
    if (key === null || key === undefined) throw await missingSymbol(relation, symbol);
    if (labelsBySymbol.has(key)) {
      const first = rows.findIndex(([other]) => other === key);
      const [earlier, own] = [await placeOf(relation, first + 1), await placeOf(relation, index + 1)];
      throw symbolTwice(relation.file, key, earlier, own);
    }
    labelsBySymbol.set(key, labels);
  }
  return labelsBySymbol;
}

/**
 * Warns if half of the symbols of the panel or more have no row. A job that does not know any symbol yet has nothing to match.
 *
 * @param given in the order of the rows
 * @param labelled symbols that need no row
 * @throws DataError E337 if no symbol of the panel has a row.
 */
async function checkSymbolsMatch(
  relation: Relation,
  symbols: readonly string[],
  given: readonly string[],
  labelled: readonly string[],
  panelFile: string,
): Promise<void> {
  if (symbols.length === 0) return;
  const { file } = relation;
  const [own, known] = [new Set(symbols), new Set([...given, ...labelled])];
  const without = symbols.filter((symbol) => !known.has(symbol));
  const others = given.filter((symbol) => !own.has(symbol));
  const alike = findAlike(without, others);
  if (without.length === symbols.length)
    throw groupsMatchNothing(file, alike?.row ?? given[0] ?? "", panelFile, alike?.symbol ?? without[0]!);
  if (without.length * 2 < symbols.length) return;
  const counts = `only ${symbols.length - without.length} of the ${symbols.length} symbols of ${panelFile} have a row`;
  const example =
    alike === null
      ? `${quoted(without[0]!)} has none`
      : `${quoted(alike.symbol)} has none, but ${await placeOf(relation, given.indexOf(alike.row) + 1)} is for ${quoted(alike.row)}: write symbols alike in both files`;
  process.emitWarning(
    `${file}: ${counts}; the groups of the others are null: ${example}`,
    "FactorloomWarning",
  );
}

/** The first symbol that a row names in another way: without its leading zeros, which spreadsheets drop, or in another case. */
function findAlike(
  symbols: readonly string[],
  given: readonly string[],
): { readonly symbol: string; readonly row: string } | null {
  const keyOf = (symbol: string) =>
    symbol
      .trim()
      .replace(/^0+(?=.)/, "")
      .toLowerCase();
  const rows = new Map(given.map((row) => [keyOf(row), row]));
  const symbol = symbols.find((each) => rows.has(keyOf(each)));
  return symbol === undefined ? null : { symbol, row: rows.get(keyOf(symbol))! };
}

/** A group that does not change over time, of the label of each lane or null. */
function groupOfLabels(name: string, laneLabels: readonly (string | null)[]): GroupColumn {
  const labels = [...new Set(laneLabels.filter((label) => label !== null))].sort();
  const codeOfLabel = new Map(labels.map((label, code) => [label, code]));
  const codes = new Int32Array(new SharedArrayBuffer(laneLabels.length * 4));
  codes.set(laneLabels.map((label) => (label === null ? -1 : codeOfLabel.get(label)!)));
  return { name, labels, codes, changesOverTime: false };
}
