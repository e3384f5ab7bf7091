import type { Engine } from "../../../src/engine.ts";

type Table = Awaited<ReturnType<Engine["evaluate"]>>;

/** The first cell whose bits differ, with its column and line; null if there is none. */
export function differenceOf(table: Table, expected: Table) {
  const names = table.schema.names.map(String);
  const expectedNames = expected.schema.names.map(String);
  if (names.join() !== expectedNames.join() || table.numRows !== expected.numRows) {
    return { names, expectedNames, rows: table.numRows, expectedRows: expected.numRows };
  }
  for (const name of names) {
    const cells = cellsOf(table, name);
    const expectedCells = cellsOf(expected, name);
    const line = cells.findIndex((cell, index) => !Object.is(cell, expectedCells[index]));
    if (line >= 0) return { name, line, is: cells[line], expected: expectedCells[line] };
  }
  return null;
}

function cellsOf(table: Table, name: string): unknown[] {
  return Array.from(table.getChild(name) as Iterable<unknown>);
}
