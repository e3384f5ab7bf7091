import { DataType, type Table } from "apache-arrow";

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
    let line = 0;
    while (line < cells.length && Object.is(cells[line], expectedCells[line])) line++;
    if (line < cells.length) return { name, line, is: cells[line], expected: expectedCells[line] };
  }
  return null;
}

/** Null is NaN, which tables do not have. */
function cellsOf(table: Table, name: string): unknown[] | Float64Array {
  const column = table.getChild(name)!;
  if (!DataType.isFloat(column.type)) return Array.from(column as Iterable<unknown>);
  const cells = new Float64Array(column.length);
  let at = 0;
  for (const data of column.data) {
    cells.set(data.values.subarray(0, data.length), at);
    if (data.nullCount > 0)
      for (let index = 0; index < data.length; index++)
        if (!data.getValid(index)) cells[at + index] = Number.NaN;
    at += data.length;
  }
  return cells;
}
