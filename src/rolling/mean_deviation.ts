import type { StepBuilder, Value } from "../operator/lowering.ts";
import type { RowWalk, Series, WindowBuilder } from "../operator/window_code.ts";
import { anyConstant, ofMoments } from "./dispersion.ts";
import {
  type BoundedPair,
  overNumber,
  PAIR_ERROR,
  type Pair,
  twoDifference,
  twoProduct,
  twoSum,
} from "./double_double.ts";
import { secondStep } from "./split_sums.ts";
import type { Moments } from "./state/quadratic.ts";

/** The mean of the absolute deviations from the mean. */
export function meanAbsoluteDeviation(
  on: WindowBuilder,
  x: Series,
  rows: number,
  minPeriods: number | null = null,
): Value {
  return ofMoments(on, [x], rows, minPeriods, {
    emit: (on, of) => meanDeviationOf(on, of, x),
    ofConstant: anyConstant([x], rows, on.number(0)),
    least: 1,
  });
}

/**
 * The sum of n times the deviations, over n^2. As in `mean_distance.ts` each of the d at most is off by less than
 * 2 d * step2, and by a share `PAIR_ERROR` of n times the bound; their sum by far less than that share of itself.
 */
function meanDeviationOf(on: WindowBuilder, of: Moments, x: Series): BoundedPair {
  const { count, windowRows } = of;
  const pivot = of.pivots[0] ?? on.number(0);
  const passed = [count, pivot, ...of.sums[0]!];
  const [high, low] = on.walkRows("mean deviation", [x], windowRows, passed, emitDeviations);
  const square = on.mul(count, count);
  const inverse = on.div(on.number(1), square);
  const quotient = overNumber(on, { high: high!, low: low! }, square, inverse);
  const each = scaledDeviationError(of);
  const inherited = on.mul(on.mul(of.bounds[0]!, inverse), on.number(2 * windowRows * each));
  const share = on.number((windowRows ** 2 + 4) * PAIR_ERROR);
  return { ...quotient, error: on.fusedMultiplyAdd(quotient.high, share, inherited) };
}

/** n times the deviation of a value from the mean, of the value's distance from the pivot and the sum of all distances. */
export function scaledDeviation(
  on: StepBuilder,
  value: Value,
  count: Value,
  pivot: Value,
  [first, second]: readonly [Value, Value],
): Pair {
  const scaled = twoProduct(on, on.sub(value, pivot), count);
  const main = twoDifference(on, scaled.high, first);
  return twoSum(on, main.high, on.sub(on.sub(main.low, scaled.excess), second));
}

/** Bound on the error of `scaledDeviation`, over the bound of the distances. */
export function scaledDeviationError({ windowRows, headBits }: Moments): number {
  return windowRows * (2 * secondStep(headBits) + PAIR_ERROR);
}

/** The sum of the magnitudes of n times the deviations from the pivot, less their sum. */
function emitDeviations(
  on: StepBuilder,
  { each }: RowWalk,
  count: Value,
  pivot: Value,
  first: Value,
  second: Value,
): [Value, Value] {
  const [high, low] = [on.copy(on.number(0)), on.copy(on.number(0))];
  each((value) => {
    const deviation = scaledDeviation(on, value!, count, pivot, [first, second]);
    const isNegative = on.lt(deviation.high, on.number(0));
    const rest = on.select(isNegative, on.neg(deviation.low), deviation.low);
    const isValue = on.eq(value!, value!);
    const sum = twoSum(on, high, on.keepOrZero(isValue, on.abs(deviation.high)));
    on.assign(high, sum.high);
    on.assign(low, on.add(low, on.add(sum.low, on.keepOrZero(isValue, rest))));
  });
  const { high: sum, low: left } = twoSum(on, high, low);
  return [sum, left];
}
