import { MAGNITUDES } from "../exact/magnitudes.ts";
import type { Mask, StepBuilder, Value } from "../operator/lowering.ts";
import type { RowWalk, Series, WindowBuilder } from "../operator/window_code.ts";
import { anyConstant, crossMoment, ofMoments } from "./dispersion.ts";
import {
  type BoundedPair,
  difference,
  over,
  overNumber,
  PAIR_ERROR,
  squareRoot,
  times,
  timesNumber,
  twoSum,
} from "./double_double.ts";
import { scaledDeviation, scaledDeviationError } from "./mean_deviation.ts";
import type { Moments } from "./state/quadratic.ts";

/** Joanes and Gill's G1, as pandas has it; null for fewer than 3 values and where all are equal. */
export function skewness(
  on: WindowBuilder,
  x: Series,
  rows: number,
  minPeriods: number | null = null,
): Value {
  return ofMoments(on, [x], rows, minPeriods, {
    emit: (on, of) => skewnessOf(on, of, x),
    ofConstant: anyConstant([x], rows, on.null),
    least: 3,
  });
}

/** Joanes and Gill's G2, as pandas has it; null for fewer than 4 values and where all are equal. */
export function kurtosis(
  on: WindowBuilder,
  x: Series,
  rows: number,
  minPeriods: number | null = null,
): Value {
  return ofMoments(on, [x], rows, minPeriods, {
    emit: (on, of) => kurtosisOf(on, of, x),
    ofConstant: anyConstant([x], rows, on.null),
    least: 4,
  });
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
  const [bound, pivot] = [of.bounds[0]!, of.pivots[0] ?? on.number(0)];
  const passed = [count, pivot, ...of.sums[0]!];
  const [name, emit] =
    power === 3 ? (["cubes", emitCubes] as const) : (["fourth powers", emitFourths] as const);
  const [high, low] = on.walkRows(`${name} of deviations`, [x], windowRows, passed, emit);
  const largest = 2 * windowRows;
  const ofEach = (power + 1) * scaledDeviationError(of) * largest ** (power - 3);
  const rounding = (16 + 2 * windowRows) * PAIR_ERROR * largest ** (power - 2);
  const bounds = power === 3 ? bound : on.mul(bound, bound);
  const squares = on.mul(square.high, count);
  const error = on.mul(on.mul(squares, bounds), on.number(2 * (ofEach + rounding)));
  return { high: high!, low: low!, error };
}

type EmitPowers = (
  on: StepBuilder,
  walk: RowWalk,
  count: Value,
  pivot: Value,
  first: Value,
  second: Value,
) => [Value, Value];

const emitCubes = emitPowers(3);
const emitFourths = emitPowers(4);

/** The sum of a power of n times the deviations. */
function emitPowers(power: 3 | 4): EmitPowers {
  return (on, { each }, count, pivot, ...sums) => {
    const [high, low] = [on.copy(on.number(0)), on.copy(on.number(0))];
    each((value) => {
      const deviation = scaledDeviation(on, value!, count, pivot, sums);
      const square = times(on, deviation, deviation);
      const one = times(on, square, power === 3 ? deviation : square);
      const isValue = on.eq(value!, value!);
      const sum = twoSum(on, high, on.keepOrZero(isValue, one.high));
      on.assign(high, sum.high);
      on.assign(low, on.add(low, on.add(sum.low, on.keepOrZero(isValue, one.low))));
    });
    const { high: sum, low: left } = twoSum(on, high, low);
    return [sum, left];
  };
}
