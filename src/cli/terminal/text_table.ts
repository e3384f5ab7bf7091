import { visible } from "../../text/visible.ts";

/** Formats rows of cells as aligned text; columns of numbers and of shares such as `12.5 %` are right-aligned. */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const isRight = header.map(
    (_, column) => rows.length > 0 && rows.every((row) => isNumeric(row[column] ?? "")),
  );
  const lines = [
    header,
    ...rows.map((row) =>
      row.map((cell) => (typeof cell === "number" ? cell.toLocaleString("en") : visible(cell))),
    ),
  ];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? "").length)));
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

function pad(cell: string, width: number, isRight: boolean): string {
  return isRight ? cell.padStart(width) : cell.padEnd(width);
}
