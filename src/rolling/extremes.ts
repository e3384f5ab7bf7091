import type { Value } from "../operator/lowering.ts";
import type { Series, WindowBuilder } from "../operator/window_code.ts";
import { hasEnough } from "./enough.ts";
import { beats, combine, type Extreme, extremeRow, extremeValue, type OfSeries } from "./state/levels.ts";
import type { WindowStatistic } from "./statistic.ts";

/** The largest value; 0 is above -0. */
export const largest: WindowStatistic = (on, x, rows, minPeriods = null) =>
  extreme(on, "largest", x, rows, minPeriods);

export const smallest: WindowStatistic = (on, x, rows, minPeriods = null) =>
  extreme(on, "smallest", x, rows, minPeriods);

/** Counted from 1 for the oldest row of the window that exists; the oldest of ties. */
export const positionOfLargest: WindowStatistic = (on, x, rows, minPeriods = null) =>
  position(on, "largest", x, rows, minPeriods);

export const positionOfSmallest: WindowStatistic = (on, x, rows, minPeriods = null) =>
  position(on, "smallest", x, rows, minPeriods);

function extreme(on: WindowBuilder, which: Extreme, x: Series, rows: number, minPeriods: number | null) {
  const of = { extreme: which, series: x, skipsNulls: minPeriods !== null };
  return on.keep(hasEnough(on, x, rows, minPeriods), extremeOf(on, of, rows));
}

/** The extreme of a window: that of two overlapping ones of the level below. */
function extremeOf(on: WindowBuilder, of: OfSeries, rows: number): Value {
  const level = Math.floor(Math.log2(rows));
  const rest = rows - 2 ** level;
  const today = extremeValue(on, of, level, 0);
  return rest === 0 ? today : combine(on, of.extreme, today, extremeValue(on, of, level, rest));
}

/** The number of its row. */
function rowOfExtreme(on: WindowBuilder, of: OfSeries, rows: number): Value {
  const level = Math.floor(Math.log2(rows));
  const rest = rows - 2 ** level;
  const today = extremeRow(on, of, level, 0);
  if (rest === 0) return today;
  const newerWins = beats(on, of.extreme, extremeValue(on, of, level, 0), extremeValue(on, of, level, rest));
  return on.select(newerWins, today, extremeRow(on, of, level, rest));
}

function position(on: WindowBuilder, which: Extreme, x: Series, rows: number, minPeriods: number | null) {
  const of = { extreme: which, series: x, skipsNulls: minPeriods !== null };
  const row = rowOfExtreme(on, of, rows);
  const oldest = on.max(on.sub(on.rowNumber, on.number(rows - 1)), on.number(0));
  const result = on.add(on.sub(row, oldest), on.number(1));
  const isEnough = hasEnough(on, x, rows, minPeriods);
  if (minPeriods === null) return on.keep(isEnough, result);
  // A null counts as the value that never wins: where that value is the extreme, they look the same.
  const never = which === "largest" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const isLast = on.eq(extremeOf(on, of, rows), on.number(never));
  on.leaveOpen(on.and(isEnough, isLast), null);
  return on.keep(isEnough, result);
}
