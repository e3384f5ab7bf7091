import { visible } from "../../text/visible.ts";

/** Between the columns of a table. */
export const COLUMN_GAP = "  ";

/**
 * Formats rows of cells as aligned text.
 *
 * @param isRight which columns are right-aligned (default: those of numbers, and of shares such as `12.5 %`)
 */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  isRight = (column: number) => rows.length > 0 && rows.every((row) => isNumeric(row[column] ?? "")),
): string {
  const right = header.map((_, column) => isRight(column));
  const lines = [
    header,
    ...rows.map((row) =>
      row.map((cell) => (typeof cell === "number" ? cell.toLocaleString("en") : visible(cell))),
    ),
  ];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? "").length)));
  return lines
    .map((line) => {
      const cells = line.map((cell, column) => pad(cell, widths[column] as number, right[column] === true));
      return cells.join(COLUMN_GAP).trimEnd();
    })
    .join("\n");
}

function isNumeric(cell: string | number): boolean {
  return typeof cell === "number" || /^(< )?[\d.]+ %$/.test(cell);
}

function pad(cell: string, width: number, isRight: boolean): string {
  return isRight ? cell.padStart(width) : cell.padEnd(width);
}
