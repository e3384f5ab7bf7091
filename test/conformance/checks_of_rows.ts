import type { Panel } from "../../src/panel.ts";
import { cases } from "../support/trials.ts";
import { GARBAGE_ROWS, HISTORY_ROWS, panels, pickCells, range, replaceCells } from "./awkward_panels.ts";
import { hashed } from "./awkward_series.ts";
import { expectCells } from "./same_cells.ts";
import { evaluateEach, type Subject } from "./subject.ts";

const { history, withGarbage } = panels;
const { laneCount } = history;
const allLanes = range(laneCount);

const EARLY_ENDS = cases([1, 6, 20], [1, 2, 3, 6, 9, 12, 16, 20, 23]);

/** Later starts, and what may stand before the history: garbage of all kinds, and of one kind only. */
const OTHER_STARTS: readonly { readonly shift: number; readonly panel: Panel }[] = [
  ...cases([3], [1, 3, 10]).map((start) => {
    return { shift: start, panel: pickCells(history, range(HISTORY_ROWS, start), allLanes) };
  }),
  { shift: -GARBAGE_ROWS, panel: withGarbage },
  ...cases([1e15], [1e15, Number.POSITIVE_INFINITY, Number.NaN, 0]).map((value) => {
    const panel = replaceCells(withGarbage, (row) => (row < GARBAGE_ROWS ? value : undefined));
    return { shift: -GARBAGE_ROWS, panel };
  }),
];

/** A value does not depend on later rows: a history that ends earlier gives the same rows. */
export function checkLookAhead(subject: Subject): void {
  for (const { panel, columns } of subject.results) {
    for (const end of EARLY_ENDS.filter((rowCount) => rowCount < panel.rowCount)) {
      const shorter = pickCells(panel, range(end), range(panel.laneCount));
      for (const result of evaluateEach(subject, shorter)) {
        const whole = columns[result.index]!;
        expectCells(result, (row, lane) => whole[row * panel.laneCount + lane]!);
      }
    }
  }
}

/** Past the lookback neither a later start nor what stands before the history changes a bit. */
export function checkForgetting(subject: Subject): void {
  for (const { shift, panel } of OTHER_STARTS) {
    for (const result of evaluateEach(subject, panel)) {
      const usual = subject.history[result.index]!;
      const firstRow = result.application.lookbackRows + Math.max(0, -shift);
      expectCells(result, (row, lane) =>
        row >= firstRow ? usual[(row + shift) * laneCount + lane]! : undefined,
      );
    }
  }
}

/** Rows in another order give the results in that order. */
export function checkRowOrder(subject: Subject): void {
  if (!subject.isRowWise) return;
  const order = range(HISTORY_ROWS).sort((a, b) => hashed(3, a) - hashed(3, b));
  for (const result of evaluateEach(subject, pickCells(history, order, allLanes))) {
    const straight = subject.history[result.index]!;
    expectCells(result, (row, lane) => straight[order[row]! * laneCount + lane]!);
  }
}
