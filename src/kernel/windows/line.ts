import type { Value } from "../../operator/lowering.ts";
import {
  over,
  overNumber,
  PAIR_ERROR,
  type Pair,
  times,
  timesNumber,
  twoDifference,
  twoProduct,
  twoSum,
} from "../emit/double_double.ts";
import type { ColumnSeries, LaneKernel } from "../emit/lane_kernel.ts";
import type { LinearSums } from "./linear.ts";
import { type BoundedPair, crossMoment, type Moments } from "./quadratic.ts";

/** Up to this many rows all sums over positions are whole numbers below 2^53. */
export const LINE_ROWS_MAX = 4096;

/**
 * Sums over the positions 1 (oldest row) to d (today) that have a value: constants for full windows, else one per lane.
 */
export interface Positions {
  readonly count: Value;
  readonly sum: Value;
  readonly squares: Value;
  /** `count * squares - sum^2`. */
  readonly spread: Value;
}

/** What the host needs of the sums over positions of one window. */
export interface PositionsSite {
  readonly kind: "positions";
  readonly column: number;
  readonly windowRows: number;
  /** First of three vectors: count, sum, squares. */
  readonly vector: number;
}

export function fullPositions(on: LaneKernel, rows: number): Positions {
  const sum = (rows * (rows + 1)) / 2;
  const squares = (rows * (rows + 1) * (2 * rows + 1)) / 6;
  return {
    count: on.number(rows),
    sum: on.number(sum),
    squares: on.number(squares),
    spread: on.number(rows * squares - sum ** 2),
  };
}

/** Positions of the values of a column; with every row all of them drop by one. */
export function positionsOf(on: LaneKernel, { column, now }: ColumnSeries, rows: number): Positions {
  const drop = (): readonly [Value, Value, Value] => {
    const vector = on.state.addWindow([0, 0, 0]);
    on.noteSite({ kind: "positions", column, windowRows: rows, vector });
    const old = on.load(column, rows);
    const [isThere, wasThere] = [on.eq(now, now), on.eq(old, old)];
    const before = [0, 1, 2].map((i) => on.loadWindow(vector + i)) as [Value, Value, Value];
    const entering = (value: number) => on.keepOrZero(isThere, on.number(value));
    const left = on.keepOrZero(wasThere, on.number(1));
    // The oldest value was at position 1: it no longer counts once all have dropped.
    const after = [
      on.add(on.sub(before[0], left), entering(1)),
      on.add(on.sub(before[1], before[0]), entering(rows)),
      on.add(on.add(on.sub(before[2], on.mul(on.number(2), before[1])), before[0]), entering(rows ** 2)),
    ] as const;
    after.forEach((value, i) => {
      on.storeWindow(vector + i, value);
    });
    return after;
  };
  const [count, sum, squares] = on.onceMade(`positions ${column} ${rows}`, drop, (sums) => sums);
  return { count, sum, squares, spread: on.sub(on.mul(count, squares), on.mul(sum, sum)) };
}

/** `count * sum(k x) - sum(k) * sum(x)`: the slope times the spread. */
function scaledSlope(on: LaneKernel, sums: LinearSums, at: Positions, rows: number): BoundedPair {
  const ramp = timesNumber(on, twoSum(on, ...sums.ramp!), at.count);
  const flat = timesNumber(on, twoSum(on, ...sums.sum), at.sum);
  const { high, low } = difference(on, ramp, flat);
  const magnitude = on.add(on.abs(ramp.high), on.abs(flat.high));
  return { high, low, error: withDropped(on, sums, on.mul(magnitude, on.number(PAIR_ERROR)), 2 * rows ** 3) };
}

/** Slope per row of the least-squares line. */
export function slopeOf(on: LaneKernel, sums: LinearSums, at: Positions, rows: number): BoundedPair {
  return overSpread(on, scaledSlope(on, sums, at, rows), at);
}

/** Today's value minus that of the line: weights of the values in the line at position d, times the spread. */
export function residualOf(
  on: LaneKernel,
  now: Value,
  sums: LinearSums,
  at: Positions,
  rows: number,
): BoundedPair {
  const last = on.number(rows);
  const own = twoProduct(on, at.spread, now);
  const ramp = timesNumber(on, twoSum(on, ...sums.ramp!), on.sub(on.mul(last, at.count), at.sum));
  const flat = timesNumber(on, twoSum(on, ...sums.sum), on.sub(at.squares, on.mul(last, at.sum)));
  const aboveRamp = difference(on, { high: own.high, low: on.neg(own.excess) }, ramp);
  const { high, low } = difference(on, aboveRamp, flat);
  const magnitude = on.add(on.abs(own.high), on.add(on.abs(ramp.high), on.abs(flat.high)));
  const error = withDropped(on, sums, on.mul(magnitude, on.number(2 * PAIR_ERROR)), 4 * rows ** 4);
  return overSpread(on, { high, low, error }, at);
}

/** Share of the variance that the line explains. */
export function rSquareOf(
  on: LaneKernel,
  sums: LinearSums,
  at: Positions,
  of: Moments,
  rows: number,
): BoundedPair {
  const slope = scaledSlope(on, sums, at, rows);
  const moment = crossMoment(on, of, 0, 0);
  const total = timesNumber(on, moment, at.spread);
  const share = over(on, times(on, slope, slope), total);
  const ofSlope = on.div(on.add(slope.error, slope.error), on.abs(slope.high));
  const relative = on.add(on.add(ofSlope, on.div(moment.error, moment.high)), on.number(8 * PAIR_ERROR));
  const isPositive = on.gt(moment.high, on.number(0));
  const isNarrow = on.and(isPositive, on.lt(relative, on.number(2 ** -10)));
  const isSafe = on.and(isNarrow, on.gt(on.abs(slope.high), on.number(2 ** -400)));
  return { ...share, error: on.keep(isSafe, on.mul(on.mul(share.high, relative), on.number(2))) };
}

function difference(on: LaneKernel, a: Pair, b: Pair): Pair {
  const { high, low } = twoDifference(on, a.high, b.high);
  return twoSum(on, high, on.add(low, on.sub(a.low, b.low)));
}

/** An error, plus the possible sum of dropped bits. */
function withDropped(on: LaneKernel, { truncated }: LinearSums, error: Value, weights: number): Value {
  if (!truncated) return error;
  return on.add(error, on.keepOrZero(truncated.mask, on.mul(truncated.dropped, on.number(weights))));
}

function overSpread(on: LaneKernel, scaled: BoundedPair, { spread }: Positions): BoundedPair {
  const inverse = on.div(on.number(1), spread);
  const quotient = overNumber(on, scaled, spread, inverse);
  const rounding = on.mul(on.abs(quotient.high), on.number(PAIR_ERROR));
  const magnitude = on.abs(scaled.high);
  // Far from the ends of the range no part of a pair is lost.
  const isSafe = on.and(on.gt(magnitude, on.number(2 ** -800)), on.lt(magnitude, on.number(2 ** 900)));
  const error = on.add(on.mul(on.mul(scaled.error, inverse), on.number(2)), rounding);
  return { ...quotient, error: on.keep(isSafe, error) };
}
