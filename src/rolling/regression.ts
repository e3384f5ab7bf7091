import { MAGNITUDES } from "../exact/magnitudes.ts";
import type { Mask, Value } from "../operator/lowering.ts";
import type { Series, WindowBuilder } from "../operator/window_code.ts";
import type { Known } from "./certain.ts";
import { crossMoment, ofMoments } from "./dispersion.ts";
import {
  type BoundedPair,
  difference,
  isOrdinary,
  negated,
  over,
  overNumber,
  PAIR_ERROR,
  times,
} from "./double_double.ts";
import { isUnchanged } from "./every_row.ts";
import { scaledDeviation } from "./mean_distance.ts";
import type { Moments } from "./state/quadratic.ts";
import type { PairStatistic } from "./statistic.ts";

/** Slope of the least-squares regression of `y` on `x`; null where `x` is constant. */
export const regressionSlope: PairStatistic = (on, y, x, rows, minPeriods = null) =>
  ofMoments(on, [y, x], rows, minPeriods, {
    emit: slopeOf,
    ofConstant: (of) => ofFlat(on, of, x, isUnchanged(on, y, rows), on.number(0)),
  });

/** Value at `x = 0` of the least-squares regression of `y` on `x`; null where `x` is constant. */
export const regressionIntercept: PairStatistic = (on, y, x, rows, minPeriods = null) =>
  ofMoments(on, [y, x], rows, minPeriods, {
    emit: (on, of) => negated(on, residualOf(on, of, on.number(0), on.number(0))),
    ofConstant: (of) => ofFlat(on, of, x, isUnchanged(on, y, rows), on.add(y.now, on.number(0))),
  });

/** Today's `y` minus its value by the least-squares regression on `x`; null where `x` is constant. */
export const regressionResidual: PairStatistic = (on, y, x, rows, minPeriods = null) =>
  ofMoments(on, [y, x], rows, minPeriods, {
    emit: (on, of) => residualOf(on, of, y.now, x.now),
    ofConstant: (of) => {
      // A line goes through any two points.
      const isExact = on.or(isUnchanged(on, y, rows), on.eq(of.count, on.number(2)));
      return ofFlat(on, of, x, isExact, on.number(0));
    },
    isAsked: on.and(on.eq(y.now, y.now), on.eq(x.now, x.now)),
  });

/** The value of windows in which `x` certainly varies; null where it does not, and what is between stays open. */
function ofFlat(on: WindowBuilder, of: Moments, x: Series, mask: Mask, value: Value): Known {
  const isConstant = isUnchanged(on, x, of.windowRows);
  const { high, error } = crossMoment(on, of, 1, 1);
  // Where rows are left out, values of x that differ may all be in those.
  const isKnown = on.and(mask, on.gt(high, error));
  return { mask: on.or(isConstant, isKnown), value: on.keep(isKnown, value) };
}

/** The cross moment over that of x. */
function slopeOf(on: WindowBuilder, of: Moments): BoundedPair {
  const cross = crossMoment(on, of, 0, 1);
  const spread = crossMoment(on, of, 1, 1);
  const inverse = on.div(on.number(1), spread.high);
  const { high, low } = over(on, cross, spread, inverse);
  const size = on.abs(high);
  const relative = on.mul(spread.error, inverse);
  // Twice the inherited errors cover those of second order.
  const share = on.fusedMultiplyAdd(relative, on.number(2), on.number(8 * PAIR_ERROR));
  const error = on.fusedMultiplyAdd(size, share, on.mul(on.mul(cross.error, inverse), on.number(2)));
  const isNarrow = on.and(
    on.gt(spread.high, on.number(0)),
    on.lt(relative, on.number(MAGNITUDES.relativeErrorMax)),
  );
  return { high, low, error: on.keep(on.and(isNarrow, isOrdinary(on, size)), error) };
}

/**
 * Distance of a point from the line: with n times its distances from the means `(y - slope * x) / n`. What underflows in the product is below 2^-1000, and the error of `y` above 2^-500.
 */
function residualOf(on: WindowBuilder, of: Moments, ofY: Value, ofX: Value): BoundedPair {
  const [y, x] = [scaledDeviation(on, of, 0, ofY), scaledDeviation(on, of, 1, ofX)];
  const slope = slopeOf(on, of);
  const explained = times(on, slope, x);
  const scaled = difference(on, y, explained);
  const inverse = on.div(on.number(1), of.count);
  const { high, low } = overNumber(on, scaled, of.count, inverse);
  const inherited = on.fusedMultiplyAdd(
    on.abs(x.high),
    slope.error,
    on.mul(on.add(on.abs(slope.high), slope.error), x.error),
  );
  const rounding = on.mul(on.add(on.abs(y.high), on.abs(explained.high)), on.number(4 * PAIR_ERROR));
  const sum = on.add(on.add(y.error, inherited), rounding);
  const isSafe = on.lt(on.abs(explained.high), on.number(MAGNITUDES.pairMax));
  return { high, low, error: on.keep(isSafe, on.mul(sum, on.add(inverse, inverse))) };
}
