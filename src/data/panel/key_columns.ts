/** Finds the key columns of a table: the time and the symbol. */

import type { KeyColumns } from "../duckdb/relation.ts";
import { keyColumnMissing, sameName, severalTimeColumns } from "../errors.ts";

const TIME_NAMES: ReadonlySet<string> = new Set(["time", "date", "datetime", "timestamp"]);
const SYMBOL_NAMES: ReadonlySet<string> = new Set(["symbol"]);

/** Finds the time and the symbol column of a panel's table, by their usual or the given names. */
export function findPanelKeys(
  file: string,
  names: readonly string[],
  timeColumn: string | undefined,
  symbolColumn: string | undefined,
): KeyColumns {
  return { time: findTime(file, names, timeColumn), symbol: findSymbol(file, names, symbolColumn) };
}

/** Finds the time column of a table of params, by its usual name. */
export function findParamsKeys(file: string, names: readonly string[]): KeyColumns {
  return { time: findTime(file, names, undefined), symbol: null };
}

/** Finds the time column of a table of series, by its name in the panel's table or its usual name. */
export function findSeriesKeys(
  file: string,
  names: readonly string[],
  timeColumn: string | undefined,
): KeyColumns {
  const asInPanel = timeColumn !== undefined && positionsOf(names, timeColumn, TIME_NAMES).length > 0;
  return { time: findTime(file, names, asInPanel ? timeColumn : undefined), symbol: null };
}

/** The column of symbols, by its name in the panel's table or its usual name; undefined if there is none. */
export function symbolColumnAmong(
  names: readonly string[],
  symbolColumn: string | undefined,
): string | undefined {
  const [first] = [symbolColumn, undefined].flatMap((wanted) => positionsOf(names, wanted, SYMBOL_NAMES));
  return names[first ?? -1];
}

function findTime(file: string, names: readonly string[], wanted: string | undefined): number {
  checkNamesDiffer(file, names);
  const times = positionsOf(names, wanted, TIME_NAMES);
  const [time] = times;
  if (time === undefined) throw keyColumnMissing(file, "time", wanted, names);
  if (times.length > 1)
    throw severalTimeColumns(
      file,
      times.map((index) => names[index] ?? ""),
    );
  return time;
}

/** Finds the symbol column of a group table, by its name in the panel's table or its usual name. */
export function findGroupKeys(
  file: string,
  names: readonly string[],
  symbolColumn: string | undefined,
): KeyColumns {
  checkNamesDiffer(file, names);
  const asInPanel = symbolColumn !== undefined && positionsOf(names, symbolColumn, SYMBOL_NAMES).length > 0;
  return { time: null, symbol: findSymbol(file, names, asInPanel ? symbolColumn : undefined) };
}

function findSymbol(file: string, names: readonly string[], wanted: string | undefined): number {
  const [symbol] = positionsOf(names, wanted, SYMBOL_NAMES);
  if (symbol === undefined) throw keyColumnMissing(file, "symbol", wanted, names);
  return symbol;
}

function positionsOf(
  names: readonly string[],
  wanted: string | undefined,
  usual: ReadonlySet<string>,
): number[] {
  const isWanted = (name: string) =>
    wanted === undefined ? usual.has(name.toLowerCase()) : name.toLowerCase() === wanted.toLowerCase();
  return names.flatMap((name, index) => (isWanted(name) ? [index] : []));
}

/** Columns without a name (the row index that pandas writes) may repeat: they are not read. */
function checkNamesDiffer(file: string, names: readonly string[]): void {
  const firstByKey = new Map<string, string>();
  for (const name of names) {
    const key = name.toLowerCase();
    const first = firstByKey.get(key);
    if (first !== undefined && name !== "") throw sameName(file, first, name);
    firstByKey.set(key, name);
  }
}
