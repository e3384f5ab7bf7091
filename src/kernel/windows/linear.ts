import type { Mask, Value } from "../../operator/lowering.ts";
import type { ColumnSeries, LaneKernel } from "../emit/lane_kernel.ts";
import { HEADROOM_EXPONENT, openScales, type WindowScale } from "./scales.ts";
import {
  headBitsOf,
  loadParts,
  moveSum,
  type Parts,
  partsOf,
  secondStep,
  splitConstants,
  splitValue,
  storeParts,
} from "./splits.ts";

/**
 * Running sums of a window that are exact, whatever has passed through it.
 *
 * Every value is split at two fixed places into a multiple of `step1` and a multiple of `step2`. Sums of such parts are
 * whole numbers of steps below 2^53, so adding a new value and subtracting an old one never rounds. The places follow
 * from a power of two, the `bound`, above every value of the window: known from the column's range, or kept for each
 * lane. When a value reaches the lane's bound the host chooses a new one and adds up the window again. If a value has
 * bits below `step2` they are dropped: the sum of a window is off by at most half a step for each such value.
 * Source of splitting by adding and subtracting a large constant: Demmel, Nguyen (2015), Parallel reproducible
 * summation; Ahrens, Demmel, Nguyen (2020), Algorithms for efficient reproducible floating point summation.
 */
export interface LinearSite {
  readonly kind: "linear";
  readonly column: number;
  readonly windowRows: number;
  readonly headBits: number;
  /** Vector of the bound, or null where the column's range gives it. */
  readonly bound: number | null;
  /** Vector of rows since the last infinite or truncated value, or null where there are none. */
  readonly truncated: number | null;
  /** First of two vectors: the parts of the sum. */
  readonly sum: number;
  /** The two parts of the sum weighted 1 (oldest) to d (today), if it is kept. */
  readonly ramp: number | null;
}

/**
 * The bound of a lane until its first value that is not 0. Errors that follow from the bound are then 0 as well, so the
 * window's nulls and infinities must be checked separately.
 */
export const FRESH_BOUND = 0;

/** Bound of a lane whose values are too large for any: its sums are NaN, and the reference is run. */
export const NO_BOUND = Number.NaN;

/** Bound of columns whose values are within -1..1. */
export const UNIT_BOUND = 2;

/** Last bit of ranks and conditions: a rank among up to 2^16 lanes, or rows, is a fraction of 2^17. */
const UNIT_END = 2 ** -70;

/** Head bits that suffice for sums over up to 512 rows, and weighted ones over up to 22. */
const ROOMY_HEAD_BITS = 11;

/** Rows since something that never happened. */
export const NEVER = 2 ** 40;

export interface LinearSums {
  /** The exact sum as two doubles. */
  readonly sum: Parts;
  /** The exact weighted sum with the weights 1 (oldest) to d (today). */
  readonly ramp: Parts | null;
  /** Where the window has infinities or truncated values, with a bound on what one value lost; null if it has none. */
  readonly truncated: { readonly mask: Mask; readonly dropped: Value } | null;
  readonly site: number;
}

/** Sums over the last `windowRows` rows of a column; nulls count as 0. */
export function linearSums(
  on: LaneKernel,
  series: ColumnSeries,
  windowRows: number,
  wantsRamp: boolean,
): LinearSums {
  return on.onceMade(
    `linear ${series.column} ${windowRows} ${wantsRamp}`,
    () => addUp(on, series, windowRows, wantsRamp),
    ({ sum, ramp, truncated }) => [
      ...sum,
      ...(ramp ?? []),
      ...(truncated ? [truncated.mask as unknown as Value, truncated.dropped] : []),
    ],
  );
}

function addUp(
  on: LaneKernel,
  { column, now, range }: ColumnSeries,
  windowRows: number,
  wantsRamp: boolean,
): LinearSums {
  const headBits = headBitsOf(wantsRamp ? windowRows ** 2 : windowRows);
  const endsAboveStep =
    range === "unit" && UNIT_BOUND * secondStep(headBits) <= UNIT_END && on.plan.laneCount <= 2 ** 16;
  const site: LinearSite = {
    kind: "linear",
    column,
    windowRows,
    headBits,
    bound: range === null ? on.state.addWindow([FRESH_BOUND]) : null,
    truncated: endsAboveStep ? null : on.state.addWindow([NEVER]),
    sum: on.state.addWindow([0, 0]),
    ramp: wantsRamp ? on.state.addWindow([0, 0]) : null,
  };
  const index = on.noteSite(site);
  const limit =
    site.bound === null
      ? null
      : openScales(on, index, [scaleOf(site.bound, headBits)], [now], false)[0]!.bound;
  const constants = splitConstants(on, headBits, limit ?? on.number(UNIT_BOUND));
  // Nulls, and values out of range, count as 0.
  const split = (x: Value) =>
    splitValue(on, constants, on.keepOrZero(limit ? on.lt(on.abs(x), limit) : on.eq(x, x), x));
  const entering = split(now);
  const parts = partsOf(on, constants, entering);
  // Without a bound the constants are NaN, and every value counts as truncated.
  const hasRest = on.ne(entering.rest, parts[1]);
  const isShort = limit ? on.or(hasRest, on.eq(on.abs(now), on.number(Number.POSITIVE_INFINITY))) : hasRest;
  const before = loadParts(on, site.sum);
  const sum = moveSum(on, before, entering, split(on.load(column, windowRows)));
  storeParts(on, site.sum, sum);
  const rest = {
    truncated: cutShortRows(on, site, limit, isShort),
    site: index,
  };
  if (site.ramp === null) return { sum, ramp: null, ...rest };
  // Every weight drops by one, then today enters with the largest.
  const weight = on.number(windowRows);
  const old = loadParts(on, site.ramp);
  const advance = (i: 0 | 1) => on.add(on.sub(old[i], before[i]), on.mul(weight, parts[i]));
  const ramp: Parts = [advance(0), advance(1)];
  storeParts(on, site.ramp, ramp);
  return { sum, ramp, ...rest };
}

function scaleOf(bound: number, headBits: number): WindowScale {
  return { bound, pivot: null, headroomExponent: linearHeadroom(headBits), exponentMost: 600 };
}

/**
 * Powers of two from the values of a window up to a new bound, so that few later values reach it. A value loses low
 * bits when it is more than 2^(54 - 2*headBits) below the bound, so windows with few head bits can afford a larger
 * headroom.
 */
export function linearHeadroom(headBits: number): number {
  return headBits <= ROOMY_HEAD_BITS ? 10 : HEADROOM_EXPONENT;
}

function cutShortRows(
  on: LaneKernel,
  { truncated, windowRows, headBits }: LinearSite,
  limit: Value | null,
  isShort: Mask,
): LinearSums["truncated"] {
  if (truncated === null) return null;
  const rows = on.keepOrZero(on.not(isShort), on.add(on.loadWindow(truncated), on.number(1)));
  on.storeWindow(truncated, rows);
  return {
    mask: on.lt(rows, on.number(windowRows)),
    dropped: on.mul(limit ?? on.number(UNIT_BOUND), on.number(secondStep(headBits))),
  };
}
