import { MAGNITUDES } from "../exact/magnitudes.ts";
import type { Value } from "../operator/lowering.ts";
import type { Series, WindowBuilder } from "../operator/window_code.ts";
import { type Known, type OfSums, whereCertain } from "./certain.ts";
import {
  type BoundedPair,
  isCertain,
  overNumber,
  PAIR_ERROR,
  quickTwoDifference,
  quickTwoSum,
  residual,
  squareRoot,
  twoDifference,
  twoProduct,
} from "./double_double.ts";
import { isUnchanged } from "./every_row.ts";
import { EXACT_CROSS_MAX, exactCross } from "./exact_cross.ts";
import { secondStep } from "./split_sums.ts";
import { type Moments, quadratic } from "./state/quadratic.ts";
import type { PairStatistic, WindowStatistic } from "./statistic.ts";

/** The sample variance (ddof 1). */
export const variance: WindowStatistic = (on, x, rows, minPeriods = null) =>
  ofMoments(on, [x], rows, minPeriods, { emit: varianceOf, ofConstant: on.number(0) });

/** The sample standard deviation (ddof 1). */
export const standardDeviation: WindowStatistic = (on, x, rows, minPeriods = null) =>
  ofMoments(on, [x], rows, minPeriods, { emit: deviationOf, ofConstant: on.number(0) });

/** The sample covariance (ddof 1). */
export const covariance: PairStatistic = (on, x, y, rows, minPeriods = null) =>
  ofMoments(on, [x, y], rows, minPeriods, {
    emit: (on, of) => overFreedom(on, of, crossMoment(on, of, 0, 1)),
    ofConstant: on.number(0),
  });

/** The Pearson correlation; null where a series is constant. */
export const correlation: PairStatistic = (on, x, y, rows, minPeriods = null) =>
  ofMoments(on, [x, y], rows, minPeriods, {
    emit: (on, of) => correlationOf(on, of, x, y),
    ofConstant: on.null,
  });

/** A statistic over moments. */
export interface OfMoments extends Pick<OfSums, "isAsked" | "least"> {
  readonly emit: (on: WindowBuilder, of: Moments) => BoundedPair;
  /**
   * What windows of finite values have for which sums say nothing: a value where a series is constant, or what is known
   * otherwise.
   */
  readonly ofConstant: Value | ((of: Moments) => Known);
}

/** A statistic over the moments of one or two columns; null for too few values, and for infinite ones. */
export function ofMoments(
  on: WindowBuilder,
  columns: readonly Series[],
  rows: number,
  minPeriods: number | null,
  { emit, ofConstant, isAsked, least = 2 }: OfMoments,
): Value {
  if (rows < least) return on.null;
  const of = on.state(quadratic, { columns, windowRows: rows, isJoint: minPeriods !== null });
  const known = (): Known => {
    if (typeof ofConstant === "function") return ofConstant(of);
    const masks = columns.map((column) => isUnchanged(on, column, rows));
    return { mask: masks.reduce((a, b) => on.or(a, b)), value: ofConstant };
  };
  return whereCertain(
    on,
    { columns, rows, minPeriods, count: of.count },
    { emit: () => ({ ...emit(on, of), state: of.state }), ofConstant: known, isAsked, least },
  );
}

/**
 * `n * sum(x y) - sum(x) * sum(y)`, that is n * (n - 1) times the sample covariance, whatever the pivots.
 *
 * With b = bound(x) * bound(y), h head bits and step2 = b * 2^(2h-107): each of the at most d terms of the product sum
 * is off by about step2 / 2, those of the sums in proportion, and the product of the second parts is left out: together
 * below 2 * d^2 * step2. Other roundings, and the loss where the first operand is not the larger one as it should be
 * (then the result is as small as the second parts are), are below 8 * d^2 * step2.
 */
export function crossMoment(on: WindowBuilder, of: Moments, i: number, j: number): BoundedPair {
  const [first, second] = of.products[i]![j - i]!;
  const [s1, s2] = of.sums[i]!;
  const [t1, t2] = of.sums[j]!;
  const scaled = twoProduct(on, of.count, first);
  const squared = twoProduct(on, s1, t1);
  // A sum of squares times n is the larger one.
  const main = (i === j ? quickTwoDifference : twoDifference)(on, scaled.high, squared.high);
  const excess = on.sub(squared.excess, scaled.excess);
  const less =
    i === j
      ? on.fusedMultiplySubtract(on.add(s1, s1), s2, excess)
      : on.fusedMultiplySubtract(s1, t2, on.fusedMultiplySubtract(s2, t1, excess));
  const rest = on.fusedMultiplyAdd(of.count, second, less);
  const { high, low } = quickTwoSum(on, main.high, on.add(main.low, rest));
  const step = secondStep(of.headBits);
  const bound = on.mul(of.bounds[i]!, of.bounds[j]!);
  return { high, low, error: on.mul(bound, on.number(10 * of.windowRows ** 2 * step)) };
}

/** A cross moment over n * (n - 1). */
function overFreedom(on: WindowBuilder, of: Moments, cross: BoundedPair): BoundedPair {
  const divisor = on.mul(of.count, on.sub(of.count, on.number(1)));
  const inverse = on.div(on.number(1), divisor);
  const quotient = overNumber(on, cross, divisor, inverse);
  const rounding = on.mul(on.abs(quotient.high), on.number(PAIR_ERROR));
  return { ...quotient, error: on.add(on.mul(cross.error, inverse), rounding) };
}

function varianceOf(on: WindowBuilder, of: Moments): BoundedPair {
  return overFreedom(on, of, crossMoment(on, of, 0, 0));
}

function deviationOf(on: WindowBuilder, of: Moments): BoundedPair {
  const square = varianceOf(on, of);
  const { high, low, halfInverse } = squareRoot(on, square);
  // A root is off by at most the error of the square over the root, if that is well below the square.
  const inherited = on.mul(square.error, on.mul(halfInverse, on.number(2)));
  return { high, low, error: on.add(inherited, on.mul(high, on.number(PAIR_ERROR))) };
}

function correlationOf(on: WindowBuilder, of: Moments, x: Series, y: Series): BoundedPair {
  const [a, b, c] = [crossMoment(on, of, 0, 0), crossMoment(on, of, 1, 1), crossMoment(on, of, 0, 1)];
  const usual = ratio(on, a, b, c);
  const { windowRows } = of;
  const isExactable =
    !of.isJoint &&
    x.range === "unit" &&
    y.range === "unit" &&
    windowRows <= EXACT_CROSS_MAX.rows &&
    on.laneCount <= EXACT_CROSS_MAX.lanes;
  if (!isExactable) return usual;
  // Correlations of ranks are often only the ranks' own rounding errors: then every bit counts.
  const [high, low, error] = [on.copy(usual.high), on.copy(usual.low), on.copy(usual.error)];
  // Where a column does not vary the cross moment says nothing.
  const isNarrow = on.eq(usual.error, usual.error);
  on.ifAny(on.andNot(isNarrow, isCertain(on, usual, usual.error)), () => {
    on.scope(() => {
      const cross = exactCross(on, [x, y], windowRows);
      const exact = ratio(on, a, b, { ...cross, error: on.mul(on.abs(cross.high), on.number(PAIR_ERROR)) });
      on.assign(high, exact.high);
      on.assign(low, exact.low);
      on.assign(error, exact.error);
    });
  });
  return { high, low, error };
}

/** `c / sqrt(a b)`, with one square root and one division. */
export function ratio(on: WindowBuilder, a: BoundedPair, b: BoundedPair, c: BoundedPair): BoundedPair {
  const product = twoProduct(on, a.high, b.high);
  const root = on.sqrt(product.high);
  // In parallel with the root, which is as slow, instead of after it.
  const inverse = on.mul(root, on.div(on.number(1), product.high));
  const own = on.sub(residual(on, product.high, root, root), product.excess);
  const rootRest = on.fusedMultiplyAdd(a.high, b.low, on.fusedMultiplyAdd(a.low, b.high, own));
  const rootLow = on.mul(rootRest, on.mul(inverse, on.number(0.5)));
  const quotient = on.mul(c.high, inverse);
  const remainder = on.fusedMultiplySubtract(quotient, rootLow, c.low);
  const rest = on.add(residual(on, c.high, quotient, root), remainder);
  const { high, low } = quickTwoSum(on, quotient, on.mul(rest, inverse));
  // Relative errors of a and b count half; where they may exceed a and b themselves nothing is certain.
  const errors = on.fusedMultiplyAdd(a.error, b.high, on.mul(b.error, a.high));
  const relative = on.mul(errors, on.mul(inverse, inverse));
  const share = on.add(relative, on.number(8 * PAIR_ERROR));
  const ofCross = on.mul(c.error, on.mul(inverse, on.number(2)));
  const error = on.fusedMultiplyAdd(on.abs(high), share, ofCross);
  const least = on.pmin(a.high, b.high);
  const isNarrow = on.and(
    on.gt(least, on.number(0)),
    on.lt(relative, on.number(MAGNITUDES.relativeErrorMax)),
  );
  const isSafe = on.and(isNarrow, on.gt(product.high, on.number(MAGNITUDES.pairMin)));
  return { high, low, error: on.select(isSafe, error, on.null) };
}
