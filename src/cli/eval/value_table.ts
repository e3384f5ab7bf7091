import { type OutputColumns, SYMBOL_NAME } from "../../data/factors/factor_batches.ts";
import { formatTime } from "../../data/time/time_text.ts";
import { counted } from "../../text/counted.ts";
import { startOf, textWidth } from "../../text/text_width.ts";
import { visible } from "../../text/visible.ts";
import { alignedNumbers, numberText } from "../terminal/number_text.ts";
import { COLUMN_GAP, formatTable } from "../terminal/text_table.ts";
import type { ShownRow } from "./shown_rows.ts";

/** The least that stays of the first factor's name in a narrow terminal. */
const NAME_WIDTH_MIN = 10;

/** A name and the texts below it. */
type Column = readonly [string, ...string[]];

/**
 * Rows of a result as a table of at most `width` characters, where a key and one factor fit: the others are counted.
 *
 * @param keepInfinite whether infinities are values, or null as in the result
 */
export function valueTable(
  rows: readonly ShownRow[],
  { time, symbols, factors }: OutputColumns,
  keepInfinite: boolean,
  width: number,
): string {
  const keys: Column[] = [
    [time.name, ...rows.map((row) => formatTime(row.time, time.type))],
    [SYMBOL_NAME, ...rows.map((row) => visible(symbols[row.lane]!))],
  ];
  const shown = fittingFactors(rows, factors, keepInfinite, width - widthOf(keys));
  const columns = [...keys, ...shown];
  const lines = rows.map((_, row) => columns.map((column) => column[row + 1]!));
  const header = columns.map(([name]) => name);
  const table = formatTable(header, lines, (column) => column >= keys.length);
  const hidden = factors.length - shown.length;
  return hidden === 0 ? table : `${table}\n… ${counted(hidden, "more factor")}: --select, --out`;
}

/** The first factors as columns, as many as fit beside others; one always, its name cut if need be. */
function fittingFactors(
  rows: readonly ShownRow[],
  factors: readonly string[],
  keepInfinite: boolean,
  width: number,
): Column[] {
  const columns: Column[] = [];
  let left = width;
  for (const [index, name] of factors.entries()) {
    const texts = rows.map(({ values }) => numberText(keptValue(values[index]!, keepInfinite)));
    const column: Column = [visible(name), ...alignedNumbers(texts)];
    left -= COLUMN_GAP.length + widthOf([column]);
    if (left < 0 && columns.length > 0) break;
    columns.push(left < 0 ? withShortName(column, left) : column);
  }
  return columns;
}

/** The value in the result. */
function keptValue(value: number, keepInfinite: boolean): number | null {
  return Number.isFinite(value) || (keepInfinite && !Number.isNaN(value)) ? value : null;
}

/** The column with a name that is shorter by what is missing. */
function withShortName([name, ...texts]: Column, missing: number): Column {
  const width = Math.max(NAME_WIDTH_MIN, textWidth(name) + missing);
  return [textWidth(name) > width ? `${startOf(name, width - 1)}…` : name, ...texts];
}

/** The width of columns beside each other. */
function widthOf(columns: readonly Column[]): number {
  const widths = columns.map((column) => Math.max(...column.map(textWidth)));
  return widths.reduce((sum, width) => sum + COLUMN_GAP.length + width, -COLUMN_GAP.length);
}
