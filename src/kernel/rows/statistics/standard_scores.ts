import type { Value } from "../../../operator/lowering.ts";
import {
  isCertain,
  over,
  type Pair,
  quickTwoSum,
  squareRoot,
  timesNumber,
  twoDifference,
  twoProduct,
  twoSum,
} from "../../../rolling/double_double.ts";
import type { LaneCode } from "../../emit/lane_code.ts";
import type { SegmentCode } from "../layout/segment.ts";
import { clamp, multiplyAdd, storeRounded, timesPair, withoutNegativeZero } from "./rounded_results.ts";
import { emitSum, type RowSum } from "./row_sums.ts";

/** Relative errors of the operations on pairs, with a wide margin. */
const SCORE_ERROR = 2 ** -96;

/** Error of a deviation from an inexact sum, as a share of count times bound. */
const DEVIATION_ERROR = 2 ** -101;

type Total = Pick<RowSum, "count" | "sum" | "error">;

/**
 * Deviations from the mean, times the number n of values: `n * x - sum`. They are exact if the sum is: the sum, and its
 * difference from n times a value, are multiples of the same step below 2^105 steps, which two doubles hold. The bound
 * on the error of the sum is one of theirs.
 */
interface Deviations extends Total {
  /** The sum of their squares, and a bound on its relative error. */
  readonly squares: Pair;
  readonly relative: Value;
  readonly of: (x: Value) => Pair;
}

/** Emits the distances from the mean in sample standard deviations, clamped to -limit .. limit unless that is 0. */
export function emitStandardScores(on: SegmentCode, limit: number): void {
  const { single } = on;
  const { count, error, squares, relative, of } = emitDeviationsTimesCount(on);
  on.finishIf(single.eq(squares.high, single.number(0)), () => on.fill(single.null));
  const freedom = { high: single.sub(count, single.number(1)), low: single.number(0) };
  const factor = squareRoot(single, over(single, freedom, squares));
  const share = on.spread(single.add(relative, single.number(SCORE_ERROR)));
  const lost = single.mul(error, factor.high);
  const margin = on.spread(single.add(lost, lost));
  const spread = on.spreadPair(factor);
  const scoreOf = (x: Value) => {
    const product = timesPair(on, of(x), spread);
    return { ...product, margin: multiplyAdd(on, on.abs(product.high), share, margin) };
  };
  storeRounded(on, scoreOf, (rounded) => clamp(on, rounded, limit));
}

/** Emits the sample standard deviation in every lane that has a value. */
export function emitStandardDeviation(on: SegmentCode): void {
  const { single } = on;
  const deviations = emitDeviationsTimesCount(on);
  on.finishIf(single.eq(deviations.squares.high, single.number(0)), () => on.fill(single.number(0)));
  const { deviation, error } = deviationOf(single, deviations);
  on.giveUpIf(single, single.not(isCertain(single, deviation, error)));
  on.fill(deviation.high);
}

/** Emits the values, limited to `mean - factor * std .. mean + factor * std`: each limit is rounded once. */
export function emitWithinDeviations(on: SegmentCode, factor: number): void {
  const { single } = on;
  const deviations = emitDeviationsTimesCount(on);
  const { count, sum } = deviations;
  const isConstant = single.eq(deviations.squares.high, single.number(0));
  on.finishIf(isConstant, () => on.forLanes((x) => on.store(x, withoutNegativeZero(on, x))));
  const { deviation, error } = deviationOf(single, deviations);
  const mean = over(single, sum, { high: count, low: single.number(0) });
  const meanError = single.add(
    single.div(deviations.error, count),
    single.mul(single.abs(mean.high), single.number(SCORE_ERROR)),
  );
  const limit = (signed: number): Value => {
    const distance = timesNumber(single, deviation, single.number(signed));
    const high = twoSum(single, mean.high, distance.high);
    const bound = quickTwoSum(single, high.high, single.add(high.low, single.add(mean.low, distance.low)));
    const rounding = single.mul(
      single.add(single.abs(mean.high), single.abs(distance.high)),
      single.number(SCORE_ERROR),
    );
    const margin = single.add(
      single.add(meanError, single.mul(error, single.number(Math.abs(signed)))),
      rounding,
    );
    on.giveUpIf(single, single.not(isCertain(single, bound, margin)));
    return on.spread(withoutNegativeZero(single, bound.high));
  };
  const [least, most] = [limit(-factor), limit(factor)];
  on.forLanes((x) => on.store(x, on.max(least, on.min(most, x))));
}

/** The standard deviation, which is above 0, and a bound on its error. */
function deviationOf(
  single: LaneCode,
  { count, squares, relative }: Deviations,
): { readonly deviation: Pair; readonly error: Value } {
  const divisor = single.mul(single.mul(count, count), single.sub(count, single.number(1)));
  const variance = over(single, squares, { high: divisor, low: single.number(0) });
  const deviation = squareRoot(single, variance);
  return { deviation, error: single.mul(deviation.high, single.add(relative, single.number(SCORE_ERROR))) };
}

/** Emits the deviations; the results are null for fewer than two values. */
function emitDeviationsTimesCount(on: SegmentCode): Deviations {
  const { single } = on;
  const total = emitTotal(on);
  const { count, error } = total;
  const of = emitDeviationOf(on, total);
  const squares = emitSquares(on, of);
  // Squares of deviations off by e are off by 2 e sum(abs(deviation)) + n e^2, and that sum is below sqrt(n squares).
  const ratio = single.sqrt(single.div(count, squares.high));
  const inherited = single.mul(single.mul(error, ratio), single.number(4));
  const steps = on.laneCountMax / 4 + 5;
  const relative = single.add(single.number(steps ** 2 * 2 ** -105), inherited);
  on.giveUpIf(single, single.gt(inherited, single.number(1)));
  return { ...total, squares, relative, of };
}

/** Emits the sum of at least two values; the results are null for fewer. */
function emitTotal(on: SegmentCode): Total {
  const { single } = on;
  const { count, bound, sum, error } = emitSum(on);
  on.finishIf(single.lt(count, single.number(2)), () => on.fill(single.null));
  const rounding = single.mul(single.mul(count, bound), single.number(DEVIATION_ERROR));
  const zero = single.number(0);
  return { count, sum, error: single.select(single.eq(error, zero), zero, single.add(error, rounding)) };
}

function emitDeviationOf(on: SegmentCode, { count, sum }: Total): Deviations["of"] {
  const n = on.spread(count);
  const { high, low } = on.spreadPair(sum);
  return (x: Value) => {
    const product = twoProduct(on, x, n);
    const difference = twoDifference(on, product.high, high);
    return twoSum(on, difference.high, on.sub(difference.low, on.add(product.excess, low)));
  };
}

/**
 * The sum of the squares as a pair. Rounding errors of the sum and of the squares are added up separately: with m turns
 * of the loop their sum is off by less than (m + 5)^2 * 2^-105 of the sum.
 */
function emitSquares(on: SegmentCode, of: Deviations["of"]): Pair {
  const highs = on.copy(on.number(0));
  const lows = on.copy(on.number(0));
  on.forLanes((x) => {
    const valid = on.eq(x, x);
    const deviation = of(x);
    const product = twoProduct(on, deviation.high, deviation.high);
    const cross = on.mul(on.add(deviation.high, deviation.high), deviation.low);
    const sum = twoSum(on, highs, on.keepOrZero(valid, product.high));
    const rest = on.keepOrZero(valid, on.sub(cross, product.excess));
    on.assign(highs, sum.high);
    on.assign(lows, on.add(lows, on.add(sum.low, rest)));
  });
  const [high, low] = on.foldAll([highs, lows], (one, [aHigh, aLow], [bHigh, bLow]) => {
    const sum = twoSum(one, aHigh!, bHigh!);
    return [sum.high, one.add(one.add(aLow!, bLow!), sum.low)];
  });
  return twoSum(on.single, high!, low!);
}
