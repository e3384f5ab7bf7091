import { low, twoProduct as productOfNumbers } from "../../../exact/double_double.ts";
import { MAGNITUDES } from "../../../exact/magnitudes.ts";
import type { Mask, Value } from "../../../operator/lowering.ts";
import { isCertain, type Pair, twoProduct, twoSum } from "../../../rolling/double_double.ts";
import type { Code } from "../../emit/code.ts";
import { type I32, type I32Local, locals, when } from "../../emit/expressions.ts";
import { LaneCode } from "../../emit/lane_code.ts";
import type { Library } from "../../emit/library.ts";
import { bisect, forEach } from "../../emit/loops.ts";
import { STEP_BYTES, VALUE_BYTES } from "../../memory/vectors.ts";
import { rowParameters } from "../layout/row_parameters.ts";
import type { RowScratch } from "../layout/row_scratch.ts";
import { LaneSort } from "../sort/sort_lanes.ts";
import { withoutNegativeZero } from "./rounded_results.ts";

/** Relative error of the operations on pairs, with a wide margin. */
const ERROR = 2 ** -97;

/** Larger factors use the reference, as do small ones, whose products might underflow. */
export function hasMedianLimits(factor: number, scale: number): boolean {
  const [most, product] = [MAGNITUDES.deviationFactorMax, factor * scale];
  const isModerate = Math.abs(factor) <= most && Math.abs(scale) <= most;
  return isModerate && (product === 0 || (product >= 1 / most && product <= most));
}

/**
 * Emits the values of a row, limited to the median plus and minus factor * scale times the median distance from it. The
 * row is sorted. Where a limit is not certain, the function returns 1.
 */
export function emitWithinMedianDistances(
  code: Code,
  library: Library,
  laneCount: number,
  scratch: RowScratch,
  [factor, scale]: readonly [number, number],
): void {
  const { input, output } = rowParameters(code);
  const sort = new LaneSort(code, library, laneCount, scratch);
  const [single, on] = [new LaneCode(code, library, 1), new LaneCode(code, library)];
  sort.emitCounts(input);
  sort.emitOrder();
  const [least, most] = [single.copy(single.number(0)), single.copy(single.number(0))];
  when(sort.count, () =>
    single.scope(() => {
      const { limits, isOpen } = emitLimits(single, emitMiddles(single, sort), [factor, scale]);
      single.pushAny(single.or(isOpen, isExtreme(single, sort)));
      code.if(() => code.i32(1).op("return"));
      single.assign(least, limits[0]);
      single.assign(most, limits[1]);
    }),
  );
  const [lower, upper] = [least, most].map((limit) => on.take(() => single.push(limit, 0)));
  const [offset, address] = locals(code, "i32", 2);
  const clip = () => {
    on.scope(() => {
      address.set(sort.row.add(offset));
      const x = on.loadAt(address, 0);
      address.set(output.add(offset));
      on.storeAt(address, 0, on.keep(on.eq(x, x), on.max(lower!, on.min(upper!, x))));
    });
  };
  forEach(offset, VALUE_BYTES * sort.lanes, clip, STEP_BYTES);
}

/** The value at a place of the sorted row. */
function valueAt(single: LaneCode, sort: LaneSort, place: I32): Value {
  const [lane] = locals(place.code, "i32", 1);
  lane.set(sort.laneAt(place));
  sort.values.at(lane).load().push().op("f64x2.splat");
  return single.takeSame();
}

/** True for magnitudes that are too large, infinite ones included. */
function isExtreme(single: LaneCode, sort: LaneSort): Mask {
  const [place] = locals(sort.base.code, "i32", 1);
  place.set(0);
  const least = valueAt(single, sort, place);
  place.set(sort.count.sub(1));
  const size = single.max(single.abs(least), single.abs(valueAt(single, sort, place)));
  return single.gt(size, single.number(MAGNITUDES.rowMax));
}

/** Emits the search for the values at the middle distances: they are at the ends of those nearest to the median. */
function emitMiddles(single: LaneCode, sort: LaneSort) {
  const { count, base } = sort;
  const [start, end, place, step] = locals(base.code, "i32", 4);
  const at = (where: I32) => {
    place.set(where);
    return valueAt(single, sort, place);
  };
  const doubled = twoSum(single, at(count.sub(1).shiftRight(1)), at(count.shiftRight(1)));
  const isFirstFarther = (first: Value, last: Value): Mask => {
    const { high, low } = twoSum(single, first, last);
    const isTie = single.eq(doubled.high, high);
    return single.or(single.gt(doubled.high, high), single.and(isTie, single.gt(doubled.low, low)));
  };
  emitNearest(start, end, count, (first, last) => {
    single.scope(() => single.pushAny(isFirstFarther(at(first), at(last))));
  });
  const farthest = () => {
    const [first, last] = [at(start), at(end)];
    const isFirst = isFirstFarther(first, last);
    return { isFirst, value: single.select(isFirst, first, last) };
  };
  const { isFirst, value: farther } = farthest();
  // Of an odd number the next one is the same.
  step.set(count.and(1).xor(1));
  single.pushAny(isFirst);
  base.code.if(
    () => start.set(start.add(step)),
    () => end.set(end.sub(step)),
  );
  return {
    /** The sum of the two values in the middle, of an odd number twice the one: exactly. */
    doubled,
    /** The two values whose distances from the median are in the middle, of an odd number the one twice. */
    farther,
    nearer: farthest().value,
  };
}

/**
 * Emits the places of the first and the last of the n / 2 + 1 (rounded down) values nearest to the median, which lie
 * side by side: the farthest of them has the middle distance, of an even number the upper one. They start at the first
 * place whose value is not farther from the median than the one after them would be.
 */
function emitNearest(
  start: I32Local,
  end: I32Local,
  count: I32,
  pushIsFirstFarther: (first: I32, last: I32) => void,
): void {
  const [nearest] = locals(start.code, "i32", 1);
  nearest.set(count.shiftRight(1).add(1));
  start.set(0);
  end.set(count.sub(nearest));
  bisect(start, end, (middle) => pushIsFirstFarther(middle, middle.add(nearest)));
  end.set(start.add(nearest).sub(1));
}

/**
 * Emits the median minus and plus the product of the factors and the distance, and where they are not certain. Four
 * times a limit is `2 s + factor * scale * (|s - 2 f| + |s - 2 g|)`, with the sum s of the middle values and the values
 * f and g at the middle distances. That is often exact, and then may lie halfway between two doubles.
 */
function emitLimits(
  single: LaneCode,
  { doubled, farther, nearer }: ReturnType<typeof emitMiddles>,
  [factor, scale]: readonly [number, number],
): { readonly limits: readonly [Value, Value]; readonly isOpen: Mask } {
  const sums = new TrackedSums(single);
  const zero = single.number(0);
  const high = single.number(productOfNumbers(factor, scale));
  const factorLow = single.number(low[0]!);
  const distanceTo = (x: Value): Pair => {
    const distance = sums.add(doubled, { high: single.mul(x, single.number(-2)), low: zero });
    const sign = single.select(single.lt(distance.high, zero), single.number(-1), single.number(1));
    return { high: single.mul(distance.high, sign), low: single.mul(distance.low, sign) };
  };
  const distances = sums.add(distanceTo(farther), distanceTo(nearer));
  const scaled = sums.times(distances, { high, low: factorLow });
  const middle = { high: single.add(doubled.high, doubled.high), low: single.add(doubled.low, doubled.low) };
  const most = sums.add(middle, scaled);
  const least = sums.add(middle, { high: single.neg(scaled.high), low: single.neg(scaled.low) });
  const values = [doubled.high, farther, nearer].map((x) => single.abs(x));
  const size = values.reduce((a, b) => single.add(a, b));
  const error = sums.errorWithin(single.mul(size, single.number(ERROR * (1 + factor * scale))));
  const isUncertain = [least, most].map((limit) => single.not(isCertain(single, limit, error)));
  // Products of smaller parts might underflow.
  const isTiny = [distances.high, distances.low].map((x) =>
    single.and(single.ne(x, zero), single.lt(single.abs(x), single.number(MAGNITUDES.pairMin))),
  );
  const quarter = (x: Pair) => withoutNegativeZero(single, single.mul(x.high, single.number(0.25)));
  return {
    limits: [quarter(least), quarter(most)],
    isOpen: [...isUncertain, ...isTiny].reduce((a, b) => single.or(a, b)),
  };
}

/** Sums and products of pairs that know whether they are exact. */
class TrackedSums {
  readonly #on: LaneCode;
  /** What was left out so far, as magnitudes. */
  #lost: Value;

  constructor(on: LaneCode) {
    this.#on = on;
    this.#lost = on.number(0);
  }

  add(a: Pair, b: Pair): Pair {
    const main = twoSum(this.#on, a.high, b.high);
    const rest = this.#sum(a.low, b.low);
    return twoSum(this.#on, main.high, this.#sum(main.low, rest));
  }

  times(a: Pair, b: Pair): Pair {
    const on = this.#on;
    const main = twoProduct(on, a.high, b.high);
    const crosses = [twoProduct(on, a.low, b.high), twoProduct(on, a.high, b.low)] as const;
    for (const { excess } of crosses) this.#lose(excess);
    this.#lose(on.mul(a.low, b.low));
    const rest = this.#sum(crosses[0].high, crosses[1].high);
    return twoSum(on, main.high, this.#sum(rest, on.neg(main.excess)));
  }

  /** The error of all results: 0 if they are exact. */
  errorWithin(bound: Value): Value {
    const on = this.#on;
    return on.select(on.eq(this.#lost, on.number(0)), on.number(0), bound);
  }

  #sum(a: Value, b: Value): Value {
    const { high, low } = twoSum(this.#on, a, b);
    this.#lose(low);
    return high;
  }

  #lose(x: Value): void {
    this.#lost = this.#on.add(this.#lost, this.#on.abs(x));
  }
}
