import { MAGNITUDES } from "../../../exact/magnitudes.ts";
import type { Mask, Value } from "../../../operator/lowering.ts";
import { type Pair, twoSum } from "../../../rolling/double_double.ts";
import { headBitsOf, splitFactors } from "../../../rolling/split_sums.ts";
import type { SegmentCode } from "../layout/segment.ts";

/**
 * Sums of a segment's values: exact unless the values differ by more than some 25 powers of two; then with a bound on
 * the error.
 *
 * One pass finds the largest magnitude. Every value is split at two fixed places below a power of two above it, as in
 * `rolling/split_sums.ts`; sums of such parts never round. Bits below the second place are added up in a further pass,
 * which few segments need.
 */

const EXPONENT_BITS = 0x7ff0000000000000n;

/**
 * Counts the values and bounds their magnitudes. Without values the results of the segment are null; larger or smaller
 * magnitudes use the reference.
 */
function emitMagnitudes(on: SegmentCode): Pick<RowSum, "count" | "bound"> {
  const { single } = on;
  const magnitudes = on.copy(on.number(0));
  const counts = on.copy(on.bits(0n));
  on.forLanes((x) => {
    on.assign(magnitudes, on.pmax(magnitudes, on.abs(x)));
    on.assign(counts, on.op("i64x2.sub", counts, on.eq(x, x)));
  });
  const count = emitCount(on, counts);
  on.finishIf(single.eq(count, single.number(0)), () => on.fill(single.null));
  const largest = on.fold(magnitudes, (one, a, b) => one.pmax(a, b));
  const [max, min] = [single.number(MAGNITUDES.rowMax), single.number(MAGNITUDES.rowMin)];
  const isTiny = single.and(single.lt(largest, min), single.ne(largest, single.number(0)));
  on.giveUpIf(single, single.or(isTiny, single.gt(largest, max)));
  const power = single.andBits(single.pmax(largest, min), single.bits(EXPONENT_BITS));
  return { count, bound: single.addBits(power, single.bits(2n ** 52n)) };
}

/** The number of values from 64-bit counters, one for each lane. */
export function emitCount(on: SegmentCode, counts: Value): Value {
  const { single, code } = on;
  return single.take(() => {
    on.forParts((part) => {
      on.push(counts, part);
      if (part > 0) code.op("i64x2.add");
    });
    const [vector] = single.takeParts(1);
    code.get(vector!).extractLane("i64", 0).get(vector!).extractLane("i64", 1).op("i64.add");
    code.op("i32.wrap_i64").op("f64.convert_i32_u").op("f64x2.splat");
  });
}

export interface RowSum {
  /** Number of values, above 0. */
  readonly count: Value;
  /** A power of two above every value. */
  readonly bound: Value;
  readonly sum: Pair;
  /** Bound on the error of the sum; 0 if it is exact. */
  readonly error: Value;
  /** If the sum is not exact, a lower bound on the magnitudes of values that are not 0. */
  readonly smallest: Value;
}

/** The sum of the values, or of their magnitudes. */
export function emitSum(on: SegmentCode, ofMagnitudes = false): RowSum {
  const { single } = on;
  const { count, bound } = emitMagnitudes(on);
  const factors = splitFactors(headBitsOf(on.laneCountMax));
  const constant1 = on.spread(single.mul(bound, single.number(factors.first)));
  const constant2 = on.spread(single.mul(bound, single.number(factors.second)));
  const split = (x: Value) => {
    const value = on.keepOrZero(on.eq(x, x), ofMagnitudes ? on.abs(x) : x);
    const first = on.sub(on.add(value, constant1), constant1);
    const rest = on.sub(value, first);
    return { value, first, rest, second: on.sub(on.add(rest, constant2), constant2) };
  };
  const firsts = on.copy(on.number(0));
  const seconds = on.copy(on.number(0));
  const isTruncated = on.copy<Mask>(on.bits(0n));
  on.forLanes((x) => {
    const { first, rest, second } = split(x);
    on.assign(firsts, on.add(firsts, first));
    on.assign(seconds, on.add(seconds, second));
    on.assign(isTruncated, on.or(isTruncated, on.ne(rest, second)));
  });
  const { high, low } = twoSum(single, on.sum(firsts), on.sum(seconds));
  const zero = single.number(0);
  const [lowWithTails, error, smallest] = [single.copy(low), single.copy(zero), single.copy(zero)];
  on.ifAny(isTruncated, () => {
    const tails = emitTails(on, split);
    const sum = single.add(low, tails.sum);
    // Above 0, however small the rests are.
    const least = single.mul(bound, single.number(2 ** -200));
    const lost = single.mul(tails.magnitude, single.number((on.laneCountMax + 4) * 2 ** -52));
    const rounding = single.mul(single.abs(sum), single.number(2 ** -52));
    single.assign(error, single.add(least, single.add(lost, rounding)));
    single.assign(lowWithTails, sum);
    single.assign(smallest, tails.least);
  });
  return { count, bound, sum: twoSum(single, high, lowWithTails), error, smallest };
}

interface Tails {
  readonly sum: Value;
  readonly magnitude: Value;
  readonly least: Value;
}

/** The sum of the bits below the second place, and of their magnitudes. */
function emitTails(
  on: SegmentCode,
  split: (x: Value) => { value: Value; rest: Value; second: Value },
): Tails {
  const tails = on.copy(on.number(0));
  const magnitudes = on.copy(on.number(0));
  const least = on.copy(on.number(MAGNITUDES.rowMax));
  on.forLanes((x) => {
    const { value, rest, second } = split(x);
    const tail = on.sub(rest, second);
    on.assign(tails, on.add(tails, tail));
    on.assign(magnitudes, on.add(magnitudes, on.abs(tail)));
    const size = on.select(on.eq(value, on.number(0)), on.number(MAGNITUDES.rowMax), on.abs(value));
    on.assign(least, on.pmin(least, size));
  });
  return {
    sum: on.sum(tails),
    magnitude: on.sum(magnitudes),
    least: on.fold(least, (one, a, b) => one.pmin(a, b)),
  };
}
