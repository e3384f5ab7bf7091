import { hasEnough } from "./enough.ts";
import { type Extreme, extremeOfTwo, neverWins, rowOfTwo } from "./state/levels.ts";
import type { WindowStatistic } from "./statistic.ts";

/** The largest value; 0 is above -0. */
export const largest = extreme("largest");
export const smallest = extreme("smallest");

/** Counted from 1 for the oldest row of the window that exists; the oldest of ties. */
export const positionOfLargest = position("largest");
export const positionOfSmallest = position("smallest");

function extreme(which: Extreme): WindowStatistic {
  return (on, x, rows, minPeriods = null) => {
    const of = { extreme: which, series: x, skipsNulls: minPeriods !== null };
    return on.keep(hasEnough(on, x, rows, minPeriods), extremeOfTwo(on, of, ...cover(rows)));
  };
}

/** A window as two that overlap, of `2^power` rows each: that of today, and that of `rest` rows ago. */
function cover(rows: number): readonly [power: number, rest: number] {
  const power = Math.floor(Math.log2(rows));
  return [power, rows - 2 ** power];
}

function position(which: Extreme): WindowStatistic {
  return (on, x, rows, minPeriods = null) => {
    const of = { extreme: which, series: x, skipsNulls: minPeriods !== null };
    const row = rowOfTwo(on, of, ...cover(rows));
    const oldest = on.max(on.sub(on.rowNumber, on.number(rows - 1)), on.number(0));
    const result = on.add(on.sub(row, oldest), on.number(1));
    const isEnough = hasEnough(on, x, rows, minPeriods);
    if (minPeriods === null) return on.keep(isEnough, result);
    // A null counts as the value that never wins: where that value is the extreme, they look the same.
    const isLast = on.eq(extremeOfTwo(on, of, ...cover(rows)), on.number(neverWins(which)));
    on.leaveOpen(on.and(isEnough, isLast), null);
    return on.keep(isEnough, result);
  };
}
