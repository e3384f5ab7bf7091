import { MAGNITUDES } from "../exact/magnitudes.ts";
import type { Mask, Value } from "../operator/lowering.ts";
import type { Series, WindowBuilder } from "../operator/window_code.ts";
import { whereCertain } from "./certain.ts";
import { crossMoment } from "./dispersion.ts";
import {
  type BoundedPair,
  difference,
  over,
  overNumber,
  PAIR_ERROR,
  times,
  timesNumber,
  twoProduct,
  twoSum,
} from "./double_double.ts";
import { isUnchanged } from "./every_row.ts";
import { type LinearSums, linear } from "./state/linear.ts";
import { positions } from "./state/positions.ts";
import { type Moments, quadratic } from "./state/quadratic.ts";
import type { BoundedStatistic } from "./statistic.ts";

/** Up to this many rows all sums over positions are whole numbers below 2^53. */
const LINE_ROWS_MAX = 4096;

/** Slope per row of the least-squares line. */
export const slope: BoundedStatistic = (on, x, rows, minPeriods = null) =>
  ofLine(on, x, rows, minPeriods, { ofConstants: on.number(0) }, (sums, at) =>
    overSpread(on, scaledSlope(on, sums, at, rows), at),
  );

/** Today's value minus that of the line. */
export const residualOfLine: BoundedStatistic = (on, x, rows, minPeriods = null) => {
  const rules = { ofConstants: on.number(0), isAsked: on.eq(x.now, x.now), areTwoConstant: true };
  return ofLine(on, x, rows, minPeriods, rules, (sums, at) => residualOf(on, x.now, sums, at, rows));
};

/** Share of the variance that the line explains. */
export const rSquare: BoundedStatistic = (on, x, rows, minPeriods = null) =>
  ofLine(on, x, rows, minPeriods, { ofConstants: on.null }, (sums, at) => {
    const of = on.state(quadratic, { columns: [x], windowRows: rows, isJoint: minPeriods !== null });
    return { ...rSquareOf(on, sums, at, of, rows), state: of.state };
  });

/** What is known of a statistic of the line before it is computed. */
interface LineRules {
  /** The value of windows of equal values. */
  readonly ofConstants: Value;
  /** Where the value is needed; default: everywhere. */
  readonly isAsked?: Mask;
  /** True if windows of two values have the value of constants: a line goes through any two points. */
  readonly areTwoConstant?: boolean;
}

function ofLine(
  on: WindowBuilder,
  x: Series,
  rows: number,
  minPeriods: number | null,
  { ofConstants, isAsked, areTwoConstant = false }: LineRules,
  emit: (sums: LinearSums, at: Positions) => BoundedPair & { readonly state?: number },
): Value | null {
  if (rows > LINE_ROWS_MAX) return null;
  if (rows < 2) return on.null;
  const sums = on.state(linear, { series: x, windowRows: rows, wantsRamp: true });
  const at = minPeriods === null ? fullPositions(on, rows) : positionsOf(on, x, rows);
  const ofConstant = () => {
    const areEqual = isUnchanged(on, x, rows);
    const mask = areTwoConstant ? on.or(areEqual, on.eq(at.count, on.number(2))) : areEqual;
    return { mask, value: ofConstants };
  };
  return whereCertain(
    on,
    { columns: [x], rows, minPeriods, count: at.count },
    { emit: () => ({ state: sums.state, ...emit(sums, at) }), ofConstant, isAsked },
  );
}

/** Sums over the positions 1 (oldest row) to d (today) that have a value: constants, or one per lane. */
interface Positions {
  readonly count: Value;
  readonly sum: Value;
  readonly squares: Value;
  /** `count * squares - sum^2`. */
  readonly spread: Value;
}

function fullPositions(on: WindowBuilder, rows: number): Positions {
  const sum = (rows * (rows + 1)) / 2;
  const squares = (rows * (rows + 1) * (2 * rows + 1)) / 6;
  return {
    count: on.number(rows),
    sum: on.number(sum),
    squares: on.number(squares),
    spread: on.number(rows * squares - sum ** 2),
  };
}

function positionsOf(on: WindowBuilder, series: Series, windowRows: number): Positions {
  const [count, sum, squares] = on.state(positions, { series, windowRows });
  return { count, sum, squares, spread: on.sub(on.mul(count, squares), on.mul(sum, sum)) };
}

/** `count * sum(k x) - sum(k) * sum(x)`: the slope times the spread. */
function scaledSlope(on: WindowBuilder, sums: LinearSums, at: Positions, rows: number): BoundedPair {
  const ramp = timesNumber(on, twoSum(on, ...sums.ramp!), at.count);
  const flat = timesNumber(on, twoSum(on, ...sums.sum), at.sum);
  const { high, low } = difference(on, ramp, flat);
  const magnitude = on.add(on.abs(ramp.high), on.abs(flat.high));
  return { high, low, error: withDropped(on, sums, on.mul(magnitude, on.number(PAIR_ERROR)), 2 * rows ** 3) };
}

/** Sums have the weights of the values in the line at position d, times the spread. */
function residualOf(
  on: WindowBuilder,
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

function rSquareOf(
  on: WindowBuilder,
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
  const isNarrow = on.and(isPositive, on.lt(relative, on.number(MAGNITUDES.relativeErrorMax)));
  const isSafe = on.and(isNarrow, on.gt(on.abs(slope.high), on.number(MAGNITUDES.squaredMin)));
  return { ...share, error: on.keep(isSafe, on.mul(on.mul(share.high, relative), on.number(2))) };
}

/** An error, plus the possible sum of dropped bits. */
function withDropped(on: WindowBuilder, { truncated }: LinearSums, error: Value, weights: number): Value {
  if (!truncated) return error;
  return on.add(error, on.keepOrZero(truncated.mask, on.mul(truncated.dropped, on.number(weights))));
}

function overSpread(on: WindowBuilder, scaled: BoundedPair, { spread }: Positions): BoundedPair {
  const inverse = on.div(on.number(1), spread);
  const quotient = overNumber(on, scaled, spread, inverse);
  const rounding = on.mul(on.abs(quotient.high), on.number(PAIR_ERROR));
  const magnitude = on.abs(scaled.high);
  // Far from the ends of the range no part of a pair is lost.
  const isSafe = on.and(
    on.gt(magnitude, on.number(MAGNITUDES.dividendMin)),
    on.lt(magnitude, on.number(MAGNITUDES.pairMax)),
  );
  const error = on.add(on.mul(on.mul(scaled.error, inverse), on.number(2)), rounding);
  return { ...quotient, error: on.keep(isSafe, error) };
}
