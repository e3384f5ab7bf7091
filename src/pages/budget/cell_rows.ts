import type { BudgetCell } from "../../bench/budget/cell.ts";
import { counted } from "../../text/counted.ts";
import { PLOT_Y, text } from "./svg.ts";

const ROW_HEIGHT = 17;
const GROUP_HEIGHT = 24;

/** Where plots of a cell a row begin and end. */
export const ROWS_LEFT = 168;
export const ROWS_WIDTH = 760;

/** A cell and the middle of its row. */
export interface CellRow {
  readonly cell: BudgetCell;
  readonly y: number;
}

export interface CellRows {
  readonly rows: readonly CellRow[];
  /** Names of the formula sets and of the cells. */
  readonly labels: string;
  readonly top: number;
  readonly bottom: number;
}

/** A row for each cell, under the names of the formula sets. */
export function cellRows(cells: readonly BudgetCell[]): CellRows {
  let y = PLOT_Y;
  const rows: CellRow[] = [];
  const labels: string[] = [];
  for (const [set, group] of Map.groupBy(cells, ({ formulas }) => formulas)) {
    y += GROUP_HEIGHT;
    const heading = `${set}: ${counted(group[0]!.factors, "formula")}`;
    labels.push(text(12, y - 8, "start", heading, { class: "strong" }));
    for (const cell of group) {
      rows.push({ cell, y: y + ROW_HEIGHT / 2 });
      labels.push(text(ROWS_LEFT - 10, y + ROW_HEIGHT / 2 + 4, "end", placeText(cell)));
      y += ROW_HEIGHT;
    }
  }
  return { rows, labels: labels.join("\n"), top: PLOT_Y + 4, bottom: y + 4 };
}

export const placeText = ({ lanes, threads }: BudgetCell): string => {
  return `${lanes.toLocaleString("en")} lanes, ${counted(threads, "thread")}`;
};
