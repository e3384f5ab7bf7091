import type { Mask, Value } from "../../../operator/lowering.ts";
import { type Pair, twoProduct } from "../../../rolling/double_double.ts";
import type { LaneCode } from "../../emit/lane_code.ts";
import type { SegmentCode } from "../layout/segment.ts";

/** A result is within `margin` of the sum of `high` and `rest`. */
interface Approximation {
  readonly high: Value;
  readonly rest: Value;
  readonly margin: Value;
  /** Where that does not hold. */
  readonly isLost?: () => Mask;
}

/**
 * Stores the results of all lanes, rounded, as `finish` changes them. If one may be rounded up or down within its
 * margin, the reference computes the segment.
 */
export function storeRounded(
  on: SegmentCode,
  approximate: (x: Value) => Approximation,
  finish: (rounded: Value) => Value,
): void {
  const isUncertain = on.copy(on.lt(on.number(0), on.number(0)));
  on.forLanes((x) => {
    const { high, rest, margin, isLost } = approximate(x);
    const upper = on.add(high, on.add(rest, margin));
    const lower = on.add(high, on.sub(rest, margin));
    const lost = isLost?.();
    const differ = on.gt(upper, lower);
    on.assign(isUncertain, on.or(isUncertain, lost ? on.or(lost, differ) : differ));
    on.store(x, finish(upper));
  });
  on.giveUpIf(on, isUncertain);
}

/** Clamps a value to -limit .. limit; 0: no limit. */
export function clamp(on: SegmentCode, x: Value, limit: number): Value {
  const size = Math.abs(limit);
  return size === 0 ? x : on.pmin(on.pmax(x, on.number(-size)), on.number(size));
}

/** Turns -0 into 0. */
export function withoutNegativeZero(on: LaneCode, x: Value): Value {
  return on.add(x, on.number(0));
}

/** The product of two pairs, without that of their low parts. */
export function timesPair(on: SegmentCode, a: Pair, b: Pair): { high: Value; rest: Value } {
  const product = twoProduct(on, a.high, b.high);
  const cross = multiplyAdd(on, a.high, b.low, on.mul(a.low, b.high));
  return { high: product.high, rest: on.sub(cross, product.excess) };
}

/** `a * b + c`, rounded once or twice. */
export function multiplyAdd(on: LaneCode, a: Value, b: Value, c: Value): Value {
  return on.library.hasFusedMultiply ? on.fusedMultiplyAdd(a, b, c) : on.add(on.mul(a, b), c);
}
