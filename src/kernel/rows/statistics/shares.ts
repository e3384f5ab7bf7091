import { MAGNITUDES } from "../../../exact/magnitudes.ts";
import type { Value } from "../../../operator/lowering.ts";
import { over, twoProduct } from "../../../rolling/double_double.ts";
import type { SegmentCode } from "../layout/segment.ts";
import { storeRounded, withoutNegativeZero } from "./rounded_results.ts";
import { emitSum } from "./row_sums.ts";

/** Relative errors of the operations on pairs, with a wide margin. */
const QUOTIENT_ERROR = 2 ** -97;

/** Larger or smaller factors use the reference. */
export function hasShares(factor: number): boolean {
  const size = Math.abs(factor);
  return factor === 0 || (size <= MAGNITUDES.shareFactorMax && size >= 1 / MAGNITUDES.shareFactorMax);
}

/** Emits the values times the factor, divided by the sum of their magnitudes; null where that is 0. */
export function emitShares(on: SegmentCode, factor: number): void {
  const { single } = on;
  const { sum, error, smallest } = emitSum(on, true);
  const zero = single.number(0);
  on.finishIf(single.eq(sum.high, zero), () => on.fill(single.null));
  const isInexact = single.gt(error, zero);
  const isTiny = single.lt(smallest, single.number(MAGNITUDES.rowValueMin));
  on.giveUpIf(single, single.and(isInexact, isTiny));
  const quotient = over(single, { high: single.number(factor), low: zero }, sum);
  const lost = single.div(error, sum.high);
  const relative = on.spread(single.add(single.add(lost, lost), single.number(QUOTIENT_ERROR)));
  const { high, low } = on.spreadPair(quotient);
  const shareOf = (x: Value) => {
    const product = twoProduct(on, x, high);
    const rest = on.sub(on.mul(x, low), product.excess);
    return { high: product.high, rest, margin: on.mul(on.abs(product.high), relative) };
  };
  storeRounded(on, shareOf, (rounded) => withoutNegativeZero(on, rounded));
}
