/** Makes a panel of bars that a program holds. */
import { Table } from "apache-arrow";
import type { Panel } from "../../panel.ts";
import { hasAll, isRecord, kindOf, wrongArgument } from "../../text/argument_kinds.ts";
import { checkedOptions } from "../../text/option_kinds.ts";
import { tableOfBytes } from "../arrow/arrow_file.ts";
import { batchOfColumns } from "../arrow/given_columns.ts";
import type { Database } from "../duckdb/database.ts";
import { type KeyFinder, parsing, type Relation } from "../duckdb/relation.ts";
import { noRows } from "../errors.ts";
import { collectPanel } from "../panel/panel_source.ts";
import { ARROW_FORMAT, openBatches } from "../read/arrow_source.ts";
import { layOutBars, openSourceAs } from "./open_panel_source.ts";
import { PANEL_SOURCE_OPTIONS, type PanelSourceOptions } from "./source_options.ts";

/** One object for each time and symbol; values of an interface too, which is no `Record`. */
export type BarRows = readonly object[];

/** Arrays or typed arrays of one length: one value for each time and symbol. */
export type BarColumns = Readonly<Record<string, ArrayLike<unknown>>>;

/**
 * Bars as programs hold them: a table of apache-arrow (of any copy from version 21.1 on), Arrow IPC as bytes, rows, columns,
 * or what has them: a data frame of nodejs-polars, a result that DuckDB has read (`await connection.runAndReadAll(sql)`).
 */
export type GivenBars =
  | Table
  | Uint8Array
  | BarRows
  | BarColumns
  | { writeIPC(): Uint8Array }
  | { getColumnsObjectJS(): BarColumns };

/** What messages call them. */
const GIVEN = "the bars";

const WANTED = "a table of Arrow, Arrow IPC as bytes, rows or columns";
const REMEDY =
  "give [{ date, symbol, close }, ...], { date: [...], symbol: [...], close: [...] } or tableToIPC(table)";

/**
 * Makes a dense panel `[rows x lanes]` of bars in memory: one row for each time and symbol, in any order, laid out as
 * `readPanel` lays out a file of the same columns. Times are Dates (a timestamp in ms, UTC), texts, whole numbers or bigints;
 * symbols are texts or whole numbers. Columns of numbers, true and false become fields, columns of text groups that change
 * over time. Null, undefined, NaN and empty texts are null: NaN in fields, -1 in groups; a cell without a row is null and
 * not present.
 *
 * @throws UsageError E527, E528 for wrong options and for what is none of these; DataError E304 for no rows, E311 to E318 for
 *   columns, E321 to E323 for rows without a key and for two rows of one time and symbol, E331 to E337 for names and side
 *   tables, each with the row (from 1); ResourceError E441 if it does not fit in memory.
 * @example
 * const bars = await panelFrom([
 *   { date: "2024-01-02", symbol: "A", close: 10, sector: "tech" },
 *   { date: "2024-01-02", symbol: "B", close: 20, sector: null },
 *   { date: "2024-01-03", symbol: "A", close: 11, sector: "tech" },
 * ]);
 * [...bars.fields.get("close")!]; // [10, 20, 11, NaN]
 * const same = await panelFrom({ at: [1n, 1n, 2n], symbol: ["A", "B", "A"], px: [10, 20, 11] }, { timeColumn: "at", rename: { close: "px" } });
 */
export async function panelFrom(bars: GivenBars, options: PanelSourceOptions = {}): Promise<Panel> {
  const checked = checkedOptions("panelFrom", options, PANEL_SOURCE_OPTIONS);
  const open = (database: Database, _: string, findKeys: KeyFinder) => openGiven(database, bars, findKeys);
  const source = await openSourceAs(GIVEN, checked, layOutBars, "whole", undefined, open);
  try {
    return await collectPanel(source);
  } finally {
    await source.close();
  }
}

async function openGiven(database: Database, bars: unknown, findKeys: KeyFinder): Promise<Relation> {
  const table = await parsing(GIVEN, ARROW_FORMAT, async () => tableOf(bars));
  if (table instanceof Table) {
    if (table.numRows === 0) throw noRows(GIVEN);
    return await openBatches(database, GIVEN, table, findKeys(table.schema.names.map(String)));
  }
  const columns = Object.entries(table);
  const keys = findKeys(columns.map(([name]) => name));
  const { batch, dictionaries } = batchOfColumns(GIVEN, columns, keys.time);
  if (batch.numRows === 0) throw noRows(GIVEN);
  return await openBatches(database, GIVEN, { schema: batch.schema, batches: [batch] }, keys, dictionaries);
}

/** The bars as a table of Arrow, or as columns of one length. @throws UsageError E528 for anything else. */
function tableOf(bars: unknown): Table | BarColumns {
  if (bars instanceof Table) return bars;
  if (bars instanceof Uint8Array) return tableOfBytes(bars);
  if (Array.isArray(bars)) return columnsOf(bars);
  if (hasMethod(bars, "writeIPC")) return tableOfBytes(bars.writeIPC() as Uint8Array);
  const columns = hasMethod(bars, "getColumnsObjectJS") ? bars.getColumnsObjectJS() : bars;
  if (!isRecord(columns) || hasAll(columns, ["schema", "batches"]))
    throw wrongArgument("panelFrom", WANTED, kindOf(bars), REMEDY);
  checkLengths(columns as BarColumns);
  return columns as BarColumns;
}

function columnsOf(rows: readonly unknown[]): BarColumns {
  if (rows.length === 0) throw noRows(GIVEN);
  const columns = new Map<string, unknown[]>();
  for (const [index, row] of rows.entries()) {
    if (!isRecord(row))
      throw wrongArgument("panelFrom", "rows that are objects", `${kindOf(row)} in row ${index + 1}`, REMEDY);
    for (const [name, value] of Object.entries(row as object)) {
      if (!columns.has(name)) columns.set(name, new Array(rows.length).fill(null));
      columns.get(name)![index] = value;
    }
  }
  return Object.fromEntries(columns);
}

function checkLengths(columns: BarColumns): void {
  const [first] = Object.entries(columns);
  for (const [name, values] of Object.entries(columns)) {
    const isList = Array.isArray(values) || (ArrayBuffer.isView(values) && "length" in values);
    if (!isList)
      throw wrongArgument("panelFrom", "columns that are arrays", `${kindOf(values)} for ${name}`, REMEDY);
    if (values.length === first![1].length) continue;
    const lengths = `${values.length} values of ${name} beside ${first![1].length} of ${first![0]}`;
    throw wrongArgument(
      "panelFrom",
      "columns of one length",
      lengths,
      "give every column one value for each row",
    );
  }
}

function hasMethod<Name extends string>(given: unknown, name: Name): given is Record<Name, () => unknown> {
  return (
    typeof given === "object" &&
    given !== null &&
    typeof (given as Record<string, unknown>)[name] === "function"
  );
}
