import { stripVTControlCharacters } from "node:util";

/** Rows of cells as aligned text; columns of numbers and of shares such as `12.5 %` are set flush right. */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const isRight = header.map(
    (_, column) => rows.length > 0 && rows.every((row) => isNumeric(row[column] ?? "")),
  );
  const lines = [
    header,
    ...rows.map((row) => row.map((cell) => (typeof cell === "number" ? cell.toLocaleString("en") : cell))),
  ];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => widthOf(line[column] ?? ""))));
  return lines
    .map((line) => {
      const cells = line.map((cell, column) => pad(cell, widths[column] as number, isRight[column] === true));
      return cells.join("  ").trimEnd();
    })
    .join("\n");
}

function isNumeric(cell: string | number): boolean {
  return typeof cell === "number" || /^[\d.]+ %$/.test(cell);
}

function widthOf(cell: string): number {
  return stripVTControlCharacters(cell).length;
}

function pad(cell: string, width: number, isRight: boolean): string {
  const blanks = " ".repeat(Math.max(0, width - widthOf(cell)));
  return isRight ? blanks + cell : cell + blanks;
}
