import type { Panel } from "../../src/panel.ts";

/** A result under test. */
export interface Result {
  /** Says in a failure which formula it is. */
  readonly label: string;
  readonly column: Float64Array;
  readonly panel: Panel;
}

/** What the cell of a result should be: bits, or any NaN for null; undefined where nothing is expected. */
export type Expected = (row: number, lane: number) => number | undefined;

/** @throws Error that names the first cell of a result that differs from what was expected, bit for bit. */
export function expectCells({ label, column, panel }: Result, expected: Expected): void {
  const { rowCount, laneCount } = panel;
  for (let row = 0; row < rowCount; row++) {
    for (let lane = 0; lane < laneCount; lane++) {
      const [actual, wanted] = [column[row * laneCount + lane], expected(row, lane)];
      if (wanted === undefined || Object.is(actual, wanted)) continue;
      throw new Error(`${label} [row ${row}, lane ${lane}]: ${shown(actual)} instead of ${shown(wanted)}`);
    }
  }
}

/** @throws Error that names the first cell of a result that is wrong by itself. */
export function expectEachCell(
  { label, column, panel }: Result,
  isRight: (value: number, row: number, lane: number) => boolean,
  rule: string,
): void {
  const { laneCount } = panel;
  const wrong = column.findIndex((value, i) => !isRight(value, Math.floor(i / laneCount), i % laneCount));
  if (wrong < 0) return;
  const place = `[row ${Math.floor(wrong / laneCount)}, lane ${wrong % laneCount}]`;
  throw new Error(`${label} ${place} is ${shown(column[wrong])}: ${rule}`);
}

function shown(value: number | undefined): string {
  if (value === undefined) return "nothing";
  if (Number.isNaN(value)) return "null";
  return Object.is(value, -0) ? "-0" : String(value);
}
