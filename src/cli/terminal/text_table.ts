import { padText, startOf, textWidth } from "../../text/text_width.ts";
import { visible } from "../../text/visible.ts";

/** Between the columns of a table. */
export const COLUMN_GAP = "  ";

/** The least that stays of texts that are cut. */
const CUT_WIDTH_MIN = 20;

type Cell = string | number;

/**
 * Formats rows of cells as aligned text.
 *
 * @param isRight which columns are right-aligned (default: those of numbers, and of shares such as `12.5 %`)
 */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly Cell[])[],
  isRight = (column: number) => rows.length > 0 && rows.every((row) => isNumeric(row[column] ?? "")),
): string {
  const right = header.map((_, column) => isRight(column));
  const lines = linesOf(header, rows);
  const widths = widthsOf(lines);
  return lines
    .map((line) => {
      const cells = line.map((cell, column) => padText(cell, widths[column]!, right[column]!));
      return cells.join(COLUMN_GAP).trimEnd();
    })
    .join("\n");
}

/** The same with a row for each item; columns say by their headings what they have of it. */
export function tableOf<Item>(
  items: readonly Item[],
  columns: Readonly<Record<string, (item: Item) => Cell>>,
): string {
  const rows = items.map((item) => Object.values(columns).map((cellOf) => cellOf(item)));
  return formatTable(Object.keys(columns), rows);
}

/** How a table is made as narrow as a line; columns are given by their index. */
export interface Fit {
  readonly width: number;
  /** The column whose texts are cut first, as far as something of them stays. */
  readonly cut?: number;
  /** What is then left out, the first of them first; columns of a list together. */
  readonly leastWanted: readonly (number | readonly number[])[];
}

/** The same within the width of a line, as far as that is possible. */
export function fittingTable(
  header: readonly string[],
  rows: readonly (readonly Cell[])[],
  { width, cut, leastWanted }: Fit,
  isRight?: (column: number) => boolean,
): string {
  const widths = widthsOf(linesOf(header, rows));
  const kept = new Set(header.keys());
  const excess = () => {
    const used = [...kept].reduce(
      (sum, column) => sum + COLUMN_GAP.length + widths[column]!,
      -COLUMN_GAP.length,
    );
    return Math.max(0, used - width);
  };
  const slack = cut === undefined ? 0 : Math.max(0, widths[cut]! - CUT_WIDTH_MIN);
  for (const least of leastWanted)
    if (excess() > slack) for (const column of [least].flat()) kept.delete(column);
  const cutWidth = cut === undefined ? 0 : widths[cut]! - Math.min(excess(), slack);
  const columns = [...kept];
  const shown = rows.map((row) =>
    columns.map((column) => (column === cut ? cutEnd(String(row[column]), cutWidth) : row[column]!)),
  );
  const names = columns.map((column) => header[column]!);
  return formatTable(names, shown, isRight && ((column) => isRight(columns[column]!)));
}

/** A formula in one line, its end cut where it is wider than `widthMax`. */
export function oneLine(formula: string, widthMax: number): string {
  return cutEnd(formula.replaceAll(/\s+/g, " "), widthMax);
}

export function cutEnd(text: string, widthMax: number): string {
  return textWidth(text) > widthMax ? `${startOf(text, widthMax - 3)}...` : text;
}

type Lines = readonly [readonly string[], ...(readonly string[])[]];

function linesOf(header: readonly string[], rows: readonly (readonly Cell[])[]): Lines {
  const textOf = (cell: Cell) => (typeof cell === "number" ? cell.toLocaleString("en") : visible(cell));
  return [header, ...rows.map((row) => row.map(textOf))];
}

/** Of each column; a table may have more rows than a call has arguments. */
function widthsOf(lines: Lines): number[] {
  return lines[0].map((_, column) =>
    lines.reduce((most, line) => Math.max(most, textWidth(line[column] ?? "")), 0),
  );
}

function isNumeric(cell: Cell): boolean {
  return typeof cell === "number" || /^(< )?[\d.]+ %$/.test(cell);
}
