import type { Mask, Value } from "../../operator/lowering.ts";
import type { LaneKernel } from "../lane_kernel.ts";

/**
 * Running sums of a window that are exact, whatever has passed through it.
 *
 * Every value is cut at two fixed places into a multiple of `step1` and a multiple of `step2`; sums of such parts are
 * whole numbers of steps below 2^53, so adding what enters and subtracting what leaves never rounds. The places follow
 * from a power of two, the lane's `bound`, that is above every value of the window. A value that reaches the bound has
 * the host choose a new one and add up the window anew. Of a value that does not end above `step2` the end is dropped:
 * the sum of a window with such a value is off by at most half a step for each.
 * Source of the cut by adding and subtracting a large constant: Demmel, Nguyen (2015), Parallel reproducible
 * summation; Ahrens, Demmel, Nguyen (2020), Algorithms for efficient reproducible floating point summation.
 */
export interface LinearSite {
  readonly kind: "linear";
  readonly column: number;
  readonly windowRows: number;
  readonly headBits: number;
  /** Vectors: the bound, rows since the last value that was cut short, and the two parts of the sum. */
  readonly bound: number;
  readonly cutShort: number;
  readonly sum: number;
  /** The two parts of the sum weighted 1 (oldest) to d (today), if it is kept. */
  readonly ramp: number | null;
}

/** A lane with this bound has one chosen in every row. */
export const NO_BOUND = Number.POSITIVE_INFINITY;

/** Rows since something that never happened. */
export const NEVER = 2 ** 40;

/** Factors by which a bound becomes the constants that cut at `step1` and `step2`. */
export function cutFactors(headBits: number): { first: number; second: number } {
  return { first: 1.5 * 2 ** (headBits - 1), second: 1.5 * 2 ** (2 * headBits - 55) };
}

/** Bits that sums of so many values, each up to the bound, may need above it. */
export function headBitsOf(weights: number): number {
  return Math.ceil(Math.log2(weights)) + 2;
}

export interface LinearSums {
  /** The exact sum as two doubles. */
  readonly sum: readonly [Value, Value];
  /** The exact weighted sum with the weights 1 (oldest) to d (today). */
  readonly ramp: readonly [Value, Value] | null;
  /** Where the window has values whose end was dropped. */
  readonly isCutShort: Mask;
  /** Bound on what a dropped end may be, for one value. */
  readonly dropped: Value;
  /** The two parts of today's value. */
  readonly today: readonly [Value, Value];
  readonly site: number;
}

/**
 * Sums over the last `windowRows` rows of a column; nulls count as 0.
 *
 * @param weightMax the largest factor by which the window's values may be multiplied in all before they are added up
 */
export function linearSums(
  on: LaneKernel,
  column: number,
  now: Value,
  windowRows: number,
  wantsRamp: boolean,
  weightMax = wantsRamp ? windowRows ** 2 : windowRows,
): LinearSums {
  const headBits = headBitsOf(weightMax);
  const bound = on.state.addWindow([NO_BOUND]);
  const cutShort = on.state.addWindow([NEVER]);
  const sum = on.state.addWindow([0, 0]);
  const ramp = wantsRamp ? on.state.addWindow([0, 0]) : null;
  const site: LinearSite = { kind: "linear", column, windowRows, headBits, bound, cutShort, sum, ramp };
  const index = checkBound(on, site, now);
  const limit = on.loadWindow(bound);
  const factors = cutFactors(headBits);
  const cut1 = on.mul(limit, on.number(factors.first));
  const cut2 = on.mul(limit, on.number(factors.second));
  const cut = (x: Value) => {
    const inRange = on.keepOrZero(on.lt(on.abs(x), limit), x);
    const first = on.sub(on.add(inRange, cut1), cut1);
    const rest = on.sub(inRange, first);
    const second = on.sub(on.add(rest, cut2), cut2);
    return { first, rest, second };
  };
  const entering = cut(now);
  const leaving = cut(on.load(column, windowRows));
  const isShort = on.ne(entering.rest, entering.second);
  const rows = on.keepOrZero(on.not(isShort), on.add(on.loadWindow(cutShort), on.number(1)));
  on.storeWindow(cutShort, rows);
  const before = [on.loadWindow(sum), on.loadWindow(sum + 1)] as const;
  const after = [
    on.add(before[0], on.sub(entering.first, leaving.first)),
    on.add(before[1], on.sub(entering.second, leaving.second)),
  ] as const;
  on.storeWindow(sum, after[0]);
  on.storeWindow(sum + 1, after[1]);
  const rest = {
    isCutShort: on.lt(rows, on.number(windowRows)),
    dropped: on.mul(limit, on.number(2 ** (2 * headBits - 107))),
    today: [entering.first, entering.second] as const,
    site: index,
  };
  if (ramp === null) return { sum: after, ramp: null, ...rest };
  // Every weight drops by one, then today enters with the largest.
  const weight = on.number(windowRows);
  const ramped = [
    on.add(on.sub(on.loadWindow(ramp), before[0]), on.mul(weight, entering.first)),
    on.add(on.sub(on.loadWindow(ramp + 1), before[1]), on.mul(weight, entering.second)),
  ] as const;
  on.storeWindow(ramp, ramped[0]);
  on.storeWindow(ramp + 1, ramped[1]);
  return { sum: after, ramp: ramped, ...rest };
}

/** Has the host choose a bound where there is none or today's value reaches it. */
function checkBound(on: LaneKernel, site: LinearSite, now: Value): number {
  const limit = on.loadWindow(site.bound);
  const isOutside = on.andNot(on.not(on.lt(on.abs(now), limit)), on.isNull(now));
  return on.repairIf(on.or(isOutside, on.eq(limit, on.number(NO_BOUND))), site);
}
