import type { Mask, Value } from "../../../operator/lowering.ts";
import {
  isCertain,
  type Pair,
  quickTwoSum,
  residual,
  roundedQuotient,
  twoDifference,
  twoSum,
} from "../../../rolling/double_double.ts";
import type { SegmentCode } from "../layout/segment.ts";
import { clamp, storeRounded } from "./rounded_results.ts";
import { emitSum, type RowSum } from "./row_sums.ts";

/** Error of the operations after a mean or a difference from it, as a share of the bound of the values. */
const DEVIATION_ERROR = 2 ** -99;

/** Emits the values minus their mean, clamped to -limit .. limit unless that is 0. */
export function emitDeviations(on: SegmentCode, limit: number): void {
  const { mean, error } = emitMean(on, emitSum(on));
  const { high, low } = on.spreadPair(mean);
  const margin = on.spread(error);
  const deviationOf = (x: Value) => {
    const difference = twoDifference(on, x, high);
    // Exact if the mean is: a difference of short multiples of one power of two.
    return { high: difference.high, rest: on.sub(difference.low, low), margin };
  };
  storeRounded(on, deviationOf, (rounded) => clamp(on, rounded, limit));
}

/** Emits the sum of the values in every lane that has one. */
export function emitRowSum(on: SegmentCode): void {
  const { sum, error } = emitSum(on);
  on.giveUpIf(on.single, on.single.not(isCertain(on.single, sum, error)));
  on.fill(sum.high);
}

/** Emits the mean of the values in every lane that has one. */
export function emitRowMean(on: SegmentCode): void {
  const { single } = on;
  const total = emitSum(on);
  const { mean, error } = emitMean(on, total);
  const isInexact = single.gt(total.error, single.number(0));
  on.giveUpIf(single, single.and(isInexact, single.not(isCertain(single, mean, error))));
  on.fill(roundedQuotient(single, total.sum, total.count));
}

/** The mean as a pair, with a bound on its error: 0 where two doubles hold the mean exactly. */
function emitMean(on: SegmentCode, { count, bound, sum, error }: RowSum): { mean: Pair; error: Value } {
  const { single } = on;
  const zero = single.number(0);
  const high = single.div(sum.high, count);
  const rest = twoSum(single, residual(single, sum.high, high, count), sum.low);
  const low = single.div(rest.high, count);
  const left = single.add(single.abs(residual(single, rest.high, low, count)), single.abs(rest.low));
  const lost = single.div(error, count);
  const bounded = single.add(single.add(lost, lost), single.mul(bound, single.number(DEVIATION_ERROR)));
  const isExact: Mask = single.and(single.eq(left, zero), single.eq(error, zero));
  return { mean: quickTwoSum(single, high, low), error: single.select(isExact, zero, bounded) };
}
