import { MAGNITUDES } from "../../../exact/magnitudes.ts";
import type { Value } from "../../../operator/lowering.ts";
import { over, twoDifference } from "../../../rolling/double_double.ts";
import type { SegmentCode } from "../layout/segment.ts";
import { storeRounded, timesPair, withoutNegativeZero } from "./rounded_results.ts";
import { emitCount } from "./row_sums.ts";

/** Relative error of a few operations on pairs, with a wide margin. */
const QUOTIENT_ERROR = 2 ** -97;

/** Emits the number of values in every lane that has one. */
export function emitRowCount(on: SegmentCode): void {
  const counts = on.copy(on.bits(0n));
  on.forLanes((x) => {
    on.assign(counts, on.op("i64x2.sub", counts, on.eq(x, x)));
  });
  on.fill(emitCount(on, counts));
}

/** Emits the largest value in every lane that has one. */
export function emitLargest(on: SegmentCode): void {
  on.fill(on.single.neg(emitLeast(on, (x) => on.neg(x))));
}

/** Emits the smallest value in every lane that has one. */
export function emitSmallest(on: SegmentCode): void {
  on.fill(emitLeast(on, (x) => x));
}

/** The least of the transformed values; -0 is below 0. */
function emitLeast(on: SegmentCode, become: (x: Value) => Value): Value {
  const infinity = on.number(Number.POSITIVE_INFINITY);
  const least = on.copy(infinity);
  on.forLanes((x) => {
    on.assign(least, on.min(least, on.select(on.eq(x, x), become(x), infinity)));
  });
  return on.fold(least, (one, a, b) => one.min(a, b));
}

/** Emits the position between the smallest value (0) and the largest (1); null if all are equal or one is infinite. */
export function emitRangeShares(on: SegmentCode): void {
  const { single } = on;
  const infinity = on.number(Number.POSITIVE_INFINITY);
  const [least, negated] = [on.copy(infinity), on.copy(infinity)];
  on.forLanes((x) => {
    on.assign(least, on.pmin(least, x));
    on.assign(negated, on.pmin(negated, on.neg(x)));
  });
  const min = on.fold(least, (one, a, b) => one.pmin(a, b));
  const max = single.neg(on.fold(negated, (one, a, b) => one.pmin(a, b)));
  // Without values the smallest stays above the largest.
  on.finishIf(single.gt(min, max), () => on.fill(single.null));
  const size = single.pmax(single.abs(min), single.abs(max));
  const isInfinite = single.eq(size, infinity);
  on.finishIf(single.or(isInfinite, single.eq(min, max)), () => on.fill(single.null));
  const isLarge = single.gt(size, single.number(MAGNITUDES.rowMax));
  on.giveUpIf(single, single.or(isLarge, single.lt(size, single.number(MAGNITUDES.rowMin))));
  const one = { high: single.number(1), low: single.number(0) };
  const inverseWidth = over(single, one, twoDifference(single, max, min));
  const [start, inverse] = [on.spread(min), on.spreadPair(inverseWidth)];
  const positionOf = (x: Value) => {
    const difference = twoDifference(on, x, start);
    const product = timesPair(on, difference, inverse);
    return {
      ...product,
      margin: on.mul(product.high, on.number(QUOTIENT_ERROR)),
      isLost: () => {
        const isSmall = on.lt(product.high, on.number(MAGNITUDES.pairMin));
        return on.and(isSmall, on.gt(difference.high, on.number(0)));
      },
    };
  };
  storeRounded(on, positionOf, (rounded) => withoutNegativeZero(on, rounded));
}
