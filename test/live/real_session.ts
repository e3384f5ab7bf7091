import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Table } from "apache-arrow";
import { expect } from "vitest";
import type { Bar, Panel } from "../../src/index.ts";

export const example = (name: string) => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));

export const alpha101 = () => readFileSync(example("alpha101.factors"), "utf8");

/** Rows of a panel, by views of its memory. */
export function rowsOf(panel: Panel, first: number, end: number): Panel {
  const { laneCount, time, fields, groups, present } = panel;
  const cut = <T extends Float64Array | Int32Array | Uint8Array>(values: T) =>
    values.subarray(first * laneCount, end * laneCount) as T;
  return {
    ...panel,
    rowCount: end - first,
    time: { ...time, values: time.values.subarray(first, end) },
    fields: new Map([...fields].map(([name, values]) => [name, cut(values)])),
    groups: new Map(
      [...groups].map(([name, group]) => {
        return [name, group.changesOverTime ? { ...group, codes: cut(group.codes) } : group];
      }),
    ),
    present: cut(present),
  };
}

/** A row of a panel as a bar of those of these symbols that it has. */
export function barOf(
  { symbols, laneCount, time, fields, present }: Panel,
  row: number,
  wanted: readonly string[],
): Bar {
  const isThere = (symbol: string) => present[row * laneCount + symbols.indexOf(symbol)] === 1;
  const found = wanted.filter(isThere);
  const lanes = found.map((symbol) => symbols.indexOf(symbol));
  const columns = [...fields].map(([name, values]) => {
    return [name, Float64Array.from(lanes, (lane) => values[row * laneCount + lane]!)] as const;
  });
  return { time: time.values[row]!, fields: Object.fromEntries(columns), symbols: found };
}

type Values = (number | null)[];

/** All that a table holds, row by row: time, symbol and the bits of each factor. */
export function linesOf(table: Table, first = 0, end = table.numRows): string[] {
  const names = table.schema.names as string[];
  const columns = names.map((name) => [...table.getChild(name)!] as Values);
  const lines: string[] = [];
  for (let row = first; row < end; row++) {
    lines.push(columns.map((values) => shown(values[row])).join(" "));
  }
  return lines;
}

function shown(value: unknown): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

/** The lines of each day, in order. */
export function linesByTime(table: Table): Map<string, string[]> {
  const days = [...table.getChildAt(0)!].map((time) => new Date(Number(time)).toISOString().slice(0, 10));
  const lines = linesOf(table);
  return Map.groupBy(lines, (_, index) => days[index]!);
}

/** @param expected the lines of the same row where the whole history is evaluated */
export function expectLines(found: Table, expected: readonly string[] | undefined, what: string): void {
  const lines = linesOf(found);
  if (lines.length === expected?.length && lines.every((line, index) => line === expected[index])) return;
  expect(lines, what).toEqual(expected);
}
