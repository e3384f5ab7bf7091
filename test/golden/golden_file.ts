import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { Table } from "apache-arrow";

/** Expected values that the oracle wrote: per factor, date and symbol, null for null. */
export interface Golden {
  readonly dates: readonly string[];
  readonly symbols: readonly string[];
  readonly factors: Readonly<Record<string, readonly (readonly (number | null)[])[]>>;
}

/** The path of a file beside this one. */
export const here = (path: string) => new URL(path, import.meta.url).pathname;

export function readGolden(set: string): Golden {
  return JSON.parse(gunzipSync(readFileSync(here(`${set}.json.gz`))).toString()) as Golden;
}

/** Finds the values of a table by date and symbol. */
export class TableReader {
  readonly #table: Table;
  readonly #rowOf = new Map<string, number>();

  constructor(table: Table) {
    this.#table = table;
    const [dates, symbols] = [table.getChild("date"), table.getChild("symbol")];
    for (let row = 0; row < table.numRows; row++) {
      const date = new Date(Number(dates?.get(row))).toISOString().slice(0, 10);
      this.#rowOf.set(`${date} ${symbols?.get(row)}`, row);
    }
  }

  /** The cells of a factor that differ from the golden by more than the relative tolerance, or in being null. */
  mismatches(golden: Golden, name: string, tolerance: number): string[] {
    const column = this.#table.getChild(name);
    return golden.dates.flatMap((date, d) =>
      golden.symbols.flatMap((symbol, s) => {
        const row = this.#rowOf.get(`${date} ${symbol}`);
        const actual = row === undefined ? null : (column?.get(row) as number | null);
        const expected = golden.factors[name]?.[d]?.[s] ?? null;
        return agree(actual, expected, tolerance)
          ? []
          : [`${date} ${symbol}: ${actual}, expected ${expected}`];
      }),
    );
  }
}

function agree(actual: number | null, expected: number | null, tolerance: number): boolean {
  if (actual === null || expected === null) return actual === expected;
  return Math.abs(actual - expected) <= tolerance * Math.abs(expected);
}
