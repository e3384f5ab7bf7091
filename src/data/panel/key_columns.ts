/** Finds the key columns of a table: the time and the symbol. */
import type { KeyColumns } from "../duckdb/relation.ts";
import { keyColumnMissing, repeatedName, sameName, severalTimeColumns } from "../errors.ts";

type Key = keyof KeyColumns;

const USUAL_NAMES: Readonly<Record<Key, readonly string[]>> = {
  time: ["time", "date", "datetime", "timestamp"],
  symbol: ["symbol"],
};

/** Finds the time and the symbol column of a panel's table, by their usual or the given names. */
export function findPanelKeys(
  file: string,
  names: readonly string[],
  timeColumn: string | undefined,
  symbolColumn: string | undefined,
): { readonly time: number; readonly symbol: number } {
  return {
    time: findKey(file, names, "time", timeColumn),
    symbol: findKey(file, names, "symbol", symbolColumn),
  };
}

/** Finds the one key column of a side table, by its name in the panel's table or its usual name. */
export function findSideKey(
  file: string,
  names: readonly string[],
  key: Key,
  inPanel: string | undefined,
): KeyColumns {
  const isAsInPanel = positionsOf(names, key, inPanel).length > 0;
  const position = findKey(file, names, key, isAsInPanel ? inPanel : undefined);
  return { time: null, symbol: null, [key]: position };
}

/** The column of symbols, by its name in the panel's table or its usual name; undefined if there is none. */
export function symbolColumnAmong(
  names: readonly string[],
  symbolColumn: string | undefined,
): string | undefined {
  const [first] = [symbolColumn, undefined].flatMap((wanted) => positionsOf(names, "symbol", wanted));
  return names[first ?? -1];
}

function findKey(file: string, names: readonly string[], key: Key, wanted: string | undefined): number {
  // Columns without a name (the row index that pandas writes) may repeat: they are not read.
  const repeated = repeatedName(names.filter(Boolean));
  if (repeated !== null) throw sameName(file, ...repeated);
  const [position, ...others] = positionsOf(names, key, wanted);
  if (position === undefined) throw keyColumnMissing(file, key, wanted, names);
  if (others.length === 0) return position;
  throw severalTimeColumns(
    file,
    [position, ...others].map((index) => names[index]!),
  );
}

function positionsOf(names: readonly string[], key: Key, wanted: string | undefined): number[] {
  const known = wanted === undefined ? USUAL_NAMES[key] : [wanted.toLowerCase()];
  return [...names.keys()].filter((index) => known.includes(names[index]!.toLowerCase()));
}
