import { MAGNITUDES } from "../exact/magnitudes.ts";
import type { Mask, StepBuilder, Value } from "../operator/lowering.ts";
import type { RowWalk, Series, WindowBuilder } from "../operator/window_code.ts";
import { crossMoment, ofMoments } from "./dispersion.ts";
import {
  type BoundedPair,
  difference,
  over,
  overNumber,
  PAIR_ERROR,
  type Pair,
  squareRoot,
  times,
  timesNumber,
  twoProduct,
  twoSum,
} from "./double_double.ts";
import { lessSum } from "./mean_distance.ts";
import { secondStep } from "./split_sums.ts";
import type { Moments } from "./state/quadratic.ts";
import type { WindowStatistic } from "./statistic.ts";

/** The mean of the absolute deviations from the mean. */
export const meanAbsoluteDeviation: WindowStatistic = (on, x, rows, minPeriods = null) => {
  const emit = (on: WindowBuilder, of: Moments) => meanDeviationOf(on, of, x);
  return ofMoments(on, [x], rows, minPeriods, { emit, ofConstant: on.number(0), least: 1 });
};

/** Joanes and Gill's G1, as pandas has it; null for fewer than 3 values and where all are equal. */
export const skewness: WindowStatistic = (on, x, rows, minPeriods = null) => {
  const emit = (on: WindowBuilder, of: Moments) => skewnessOf(on, of, x);
  return ofMoments(on, [x], rows, minPeriods, { emit, ofConstant: on.null, least: 3 });
};

/** Joanes and Gill's G2, as pandas has it; null for fewer than 4 values and where all are equal. */
export const kurtosis: WindowStatistic = (on, x, rows, minPeriods = null) => {
  const emit = (on: WindowBuilder, of: Moments) => kurtosisOf(on, of, x);
  return ofMoments(on, [x], rows, minPeriods, { emit, ofConstant: on.null, least: 4 });
};

/**
 * The sum of n times the deviations, over n^2. As in `mean_distance.ts` each of the d at most is off by less than
 * 2 d * step2, and by a share `PAIR_ERROR` of n times the bound; their sum by far less than that share of itself.
 */
function meanDeviationOf(on: WindowBuilder, of: Moments, x: Series): BoundedPair {
  const { count, windowRows } = of;
  const sum = sumOfDeviations(on, of, x, "magnitudes");
  const square = on.mul(count, count);
  const inverse = on.div(on.number(1), square);
  const quotient = overNumber(on, sum, square, inverse);
  const each = deviationError(of);
  const inherited = on.mul(on.mul(of.bounds[0]!, inverse), on.number(2 * windowRows * each));
  const share = on.number((windowRows ** 2 + 4) * PAIR_ERROR);
  return { ...quotient, error: on.fusedMultiplyAdd(quotient.high, share, inherited) };
}

/** With e n times the deviations and C = sum(e^2) / n: (n-1) sum(e^3) / ((n-2) C sqrt(n (n-1) C)). */
function skewnessOf(on: WindowBuilder, of: Moments, x: Series): BoundedPair {
  const [less, lesser] = [lessThanCount(on, of, 1), lessThanCount(on, of, 2)];
  const square = crossMoment(on, of, 0, 0);
  const cubes = powerSum(on, of, x, square, 3);
  const root = squareRoot(on, timesNumber(on, square, on.mul(of.count, less)));
  const divisor = times(on, timesNumber(on, square, lesser), root);
  const value = quotient(on, { ...timesNumber(on, cubes, less), error: on.mul(cubes.error, less) }, divisor);
  return certainWhere(on, value, square, areCertain(on, of, square));
}

/** With e and C as above: (n-1) ((n+1) sum(e^4) / (n C^2) - 3 (n-1)) / ((n-2) (n-3)). */
function kurtosisOf(on: WindowBuilder, of: Moments, x: Series): BoundedPair {
  const { count } = of;
  const [less, more] = [lessThanCount(on, of, 1), lessThanCount(on, of, -1)];
  const square = crossMoment(on, of, 0, 0);
  const fourths = powerSum(on, of, x, square, 4);
  const divisor = timesNumber(on, times(on, square, square), count);
  const product = { ...timesNumber(on, fourths, more), error: on.mul(fourths.error, more) };
  const ratio = certainWhere(on, quotient(on, product, divisor), square, areCertain(on, of, square));
  const normal = { high: on.mul(less, on.number(3)), low: on.number(0) };
  const factor = on.mul(lessThanCount(on, of, 2), lessThanCount(on, of, 3));
  const inverse = on.div(on.number(1), factor);
  const value = overNumber(on, timesNumber(on, difference(on, ratio, normal), less), factor, inverse);
  // The ratio is the larger operand where they do not nearly cancel, else both are.
  const rounding = on.mul(on.add(on.abs(ratio.high), normal.high), on.number(8 * PAIR_ERROR));
  const error = on.mul(on.add(ratio.error, rounding), on.mul(on.mul(less, inverse), on.number(2)));
  return { ...value, error };
}

function lessThanCount(on: WindowBuilder, { count }: Moments, by: number): Value {
  return on.sub(count, on.number(by));
}

/** The error is that of the dividend and some roundings; that of the divisor is added by `certainWhere`. */
function quotient(
  on: WindowBuilder,
  dividend: BoundedPair,
  divisor: Omit<BoundedPair, "error">,
): BoundedPair {
  const inverse = on.div(on.number(1), divisor.high);
  const value = over(on, dividend, divisor, inverse);
  return { ...value, error: on.mul(dividend.error, on.mul(inverse, on.number(2))) };
}

/** The error of a value over at most the square of C. */
function certainWhere(on: WindowBuilder, value: BoundedPair, square: BoundedPair, isSafe: Mask): BoundedPair {
  const relative = on.div(square.error, square.high);
  const share = on.fusedMultiplyAdd(relative, on.number(3), on.number(32 * PAIR_ERROR));
  const error = on.fusedMultiplyAdd(on.abs(value.high), share, value.error);
  return { ...value, error: on.select(isSafe, error, on.null) };
}

/** True where the relative error of C is small, and no power leaves the range of pairs. */
function areCertain(on: WindowBuilder, of: Moments, square: BoundedPair): Mask {
  const narrow = on.mul(square.high, on.number(MAGNITUDES.relativeErrorMax));
  const isInRange = on.and(
    on.gt(square.high, on.number(MAGNITUDES.powerSquareMin)),
    on.lt(of.bounds[0]!, on.number(MAGNITUDES.powerMax)),
  );
  return on.and(on.lt(square.error, narrow), isInRange);
}

/**
 * The sum of the third or fourth powers p of e, n times the deviations.
 *
 * An e is below E = 2 d times the bound of the distances, and off by less than delta. Where C is certain, delta is far
 * below its root, so all powers together are off by less than (p+1) delta E^(p-3) sum(e^2). Each rounds by less than 16
 * `PAIR_ERROR` of itself, and their sum by less than 2 d of E^(p-2) sum(e^2), which is above the sum of their
 * magnitudes.
 */
function powerSum(on: WindowBuilder, of: Moments, x: Series, square: BoundedPair, power: 3 | 4): BoundedPair {
  const { count, windowRows } = of;
  const bound = of.bounds[0]!;
  const sum = sumOfDeviations(on, of, x, power === 3 ? "cubes" : "fourth powers");
  const largest = 2 * windowRows;
  const ofEach = (power + 1) * deviationError(of) * largest ** (power - 3);
  const rounding = (16 + 2 * windowRows) * PAIR_ERROR * largest ** (power - 2);
  const bounds = power === 3 ? bound : on.mul(bound, bound);
  const squares = on.mul(square.high, count);
  const error = on.mul(on.mul(squares, bounds), on.number(2 * (ofEach + rounding)));
  return { ...sum, error };
}

/** Bound on the error of n times a deviation, over the bound of the distances: see `mean_distance.ts`. */
function deviationError({ windowRows, headBits }: Moments): number {
  return windowRows * (2 * secondStep(headBits) + PAIR_ERROR);
}

/** What is added up of n times a deviation. */
const TERMS = {
  magnitudes: (on: StepBuilder, { high, low }: Pair): Pair => {
    const isNegative = on.lt(high, on.number(0));
    return { high: on.abs(high), low: on.select(isNegative, on.neg(low), low) };
  },
  cubes: (on: StepBuilder, e: Pair): Pair => times(on, times(on, e, e), e),
  "fourth powers": (on: StepBuilder, e: Pair): Pair => {
    const square = times(on, e, e);
    return times(on, square, square);
  },
};

/** The sum of a function of n times each deviation. */
function sumOfDeviations(on: WindowBuilder, of: Moments, x: Series, name: keyof typeof TERMS): Pair {
  const passed = [of.count, of.pivots[0] ?? on.number(0), ...of.sums[0]!];
  const emit = (on: StepBuilder, { each }: RowWalk, count: Value, pivot: Value, ...sums: [Value, Value]) => {
    const [high, low] = [on.copy(on.number(0)), on.copy(on.number(0))];
    each((value) => {
      const term = TERMS[name](on, lessSum(on, twoProduct(on, on.sub(value!, pivot), count), sums));
      const isValue = on.eq(value!, value!);
      const sum = twoSum(on, high, on.keepOrZero(isValue, term.high));
      on.assign(high, sum.high);
      on.assign(low, on.add(low, on.add(sum.low, on.keepOrZero(isValue, term.low))));
    });
    const { high: sum, low: left } = twoSum(on, high, low);
    return [sum, left];
  };
  const [high, low] = on.walkRows(`${name} of deviations`, [x], of.windowRows, passed, emit);
  return { high: high!, low: low! };
}
