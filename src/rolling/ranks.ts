import type { Value } from "../operator/lowering.ts";
import type { Series, WindowBuilder } from "../operator/window_code.ts";
import { isCertain, isOrdinary, PAIR_ERROR, quickTwoSum, times, twoSum } from "./double_double.ts";
import { countOf, hasEnough } from "./enough.ts";
import { keys } from "./state/keys.ts";
import { ORDER_ROWS_MAX, sorted } from "./state/sorted.ts";
import type { BoundedStatistic } from "./statistic.ts";

/**
 * With fewer rows keys cost as much as they save: `ts_rank(close, d)` takes equally long for 6 to 10. With more rows one
 * of them too often has today's key, and then keys and rows do not fit a cache together.
 */
const KEYS_ROWS_MIN = 12;
const KEYS_ROWS_MAX = 64;

/** An integer below it, or'ed into its last bits, is added to it. */
const INTEGER_CARRIER = 2 ** 52;

/**
 * Average rank of today's value among those of the window, divided by their number; null if there is no code for a
 * window of that length.
 */
export const rankOfToday: BoundedStatistic = (on, x, rows, minPeriods = null) => {
  if (rows > ORDER_ROWS_MAX) return null;
  const count = minPeriods === null ? on.number(rows) : countOf(on, x, rows);
  const rank = on.mul(on.add(doubledRank(on, x, rows), on.number(1)), on.number(0.5));
  const isEnough = on.and(hasEnough(on, x, rows, minPeriods), on.eq(x.now, x.now));
  return on.keep(isEnough, on.div(rank, count));
};

/** Twice the number of values below today's, plus the number of equal ones, including today's. Nulls do not count. */
function doubledRank(on: WindowBuilder, x: Series, rows: number): Value {
  const ofRows = () => doubledRankOfRows(on, x, rows);
  // Ranks and conditions have few values, most of which are in the window more than once.
  const byKeys = x.range !== "unit" && rows >= KEYS_ROWS_MIN && rows <= KEYS_ROWS_MAX;
  return byKeys
    ? on.state(keys, { series: x, windowRows: rows, ofTied: ofRows })
    : on.once(`doubled rank ${x.column} ${rows}`, ofRows);
}

function doubledRankOfRows(on: WindowBuilder, x: Series, rows: number): Value {
  let counts = on.bits(1n);
  for (let lag = 1; lag < rows; lag++) {
    counts = on.scope(() => {
      const value = on.lag(x, lag);
      // Masks are -1 as integers: subtracting them counts.
      const below = on.subBits(counts, on.bitsOf(on.lt(value, x.now)));
      return on.subBits(below, on.bitsOf(on.le(value, x.now)));
    });
  }
  const carrier = on.number(INTEGER_CARRIER);
  return on.sub(on.orBits(counts, carrier), carrier);
}

/**
 * The `share`-quantile, linear between the two values around position `share * (n - 1)`; null as for `rankOfToday`.
 */
export function quantile(
  on: WindowBuilder,
  x: Series,
  rows: number,
  share: number,
  minPeriods: number | null = null,
): Value | null {
  if (!(share >= 0 && share <= 1)) return on.null;
  if (rows > ORDER_ROWS_MAX) return null;
  const first = on.state(sorted, { series: x, windowRows: rows });
  const isEnough = hasEnough(on, x, rows, minPeriods);
  const last = minPeriods === null ? on.number(rows - 1) : on.sub(countOf(on, x, rows), on.number(1));
  const position = on.mul(on.number(share), last);
  const index = on.floor(position);
  const part = on.sub(position, index);
  const below = on.loadVectorAt(first, index);
  const above = on.loadVectorAt(first, on.min(on.add(index, on.number(1)), last));
  const result = on.scope(() => interpolated(on, below, above, part));
  const isPlain = on.or(on.eq(part, on.number(0)), on.eq(below, above));
  const isOpen = on.andNot(on.and(isEnough, on.isNull(result)), isPlain);
  const value = on.select(isPlain, on.add(below, on.number(0)), result);
  on.leaveOpen(isOpen, null);
  return on.keep(isEnough, value);
}

/** `below + (above - below) * part` for `below < above` and a part above 0, or null where it is open. */
function interpolated(on: WindowBuilder, below: Value, above: Value, part: Value): Value {
  const difference = twoSum(on, above, on.neg(below));
  const scaled = times(on, difference, { high: part, low: on.number(0) });
  const sum = twoSum(on, below, scaled.high);
  const pair = quickTwoSum(on, sum.high, on.add(sum.low, scaled.low));
  const error = on.mul(
    on.add(on.mul(on.number(2), on.abs(scaled.high)), on.abs(pair.high)),
    on.number(PAIR_ERROR),
  );
  const isSafe = isOrdinary(on, on.abs(pair.high));
  const smooth = on.keep(on.and(isSafe, isCertain(on, pair, error)), pair.high);
  // Half of a sum that rounds once is the mean of the two.
  const isZero = on.eq(below, on.neg(above));
  const isHalf = on.and(on.eq(part, on.number(0.5)), on.or(isSafe, isZero));
  return on.select(isHalf, on.mul(on.add(below, above), on.number(0.5)), smooth);
}
