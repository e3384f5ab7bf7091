import type { Mask, Value } from "../../operator/lowering.ts";
import type { Series, StateRows, WindowBuilder, WindowState } from "../../operator/window_code.ts";
import {
  headBitsOf,
  headOf,
  loadParts,
  moveSum,
  type Parts,
  partsOf,
  secondStep,
  splitConstants,
  splitFactors,
  splitValue,
  storeParts,
} from "../split_sums.ts";
import {
  BOUND_OF_ZEROS,
  bounds,
  boundsOf,
  exponentAbove,
  HEADROOM_EXPONENT,
  loadScales,
  NO_BOUND,
  NO_VALUE_YET,
  type Scale,
  UNIT_BOUND,
} from "./bounds.ts";
import { NEVER } from "./run_length.ts";

/** The values of a window, in one sum or in one with the weights 1 (oldest) to d (today) too. */
interface OfSeries {
  readonly series: Series;
  readonly windowRows: number;
  readonly wantsRamp: boolean;
}

interface Layout {
  readonly column: number;
  readonly windowRows: number;
  readonly headBits: number;
  /** That of the column; null where its range gives the bound. */
  readonly scales: readonly [Scale | null];
  /** Vector of rows since the last infinite or truncated value, or null where there are none. */
  readonly truncated: number | null;
  /** First of two vectors: the parts of the sum. */
  readonly sum: number;
  /** The two parts of the weighted sum, if it is kept. */
  readonly ramp: number | null;
}

/** Sums over a window; nulls count as 0. */
export interface LinearSums {
  /** The exact sum as two doubles. */
  readonly sum: Parts;
  /** The exact sum with the weights 1 (oldest) to d (today). */
  readonly ramp: Parts | null;
  /** Where the window has infinities or truncated values, with a bound on what one value lost; null if it has none. */
  readonly truncated: { readonly mask: Mask; readonly dropped: Value } | null;
  readonly state: number;
}

/** Last bit of ranks and conditions: a rank among up to 2^16 lanes, or rows, is a fraction of 2^17. */
const UNIT_END = 2 ** -70;
const UNIT_LANES_MAX = 2 ** 16;

/** Head bits that suffice for sums over up to 512 rows, and weighted ones over up to 22. */
const ROOMY_HEAD_BITS = 11;

/** Exponents of the largest and smallest bounds; windows beyond them use the reference. */
const EXPONENTS = { least: -700, most: 960 } as const;

/** Running sums of a window: the sums of `split_sums.ts`, with a bound that the column's range gives or each lane has. */
export const linear: WindowState<OfSeries, Layout, LinearSums> = {
  kind: "linear",
  keyOf: ({ series, windowRows, wantsRamp }) => `${series.column} ${windowRows} ${wantsRamp}`,
  reserve(layout, { series, windowRows, wantsRamp }) {
    const { column, range } = series;
    const headBits = headBitsOf(wantsRamp ? windowRows ** 2 : windowRows);
    const endsAboveStep = range === "unit" && UNIT_BOUND * secondStep(headBits) <= UNIT_END;
    return {
      column,
      windowRows,
      headBits,
      scales: [range === null ? { column, bound: layout.vectors([NO_VALUE_YET]), pivot: null } : null],
      truncated: endsAboveStep && layout.laneCount <= UNIT_LANES_MAX ? null : layout.vectors([NEVER]),
      sum: layout.vectors([0, 0]),
      ramp: wantsRamp ? layout.vectors([0, 0]) : null,
    };
  },
  emit(on, layout, { series }, state) {
    const { scales, windowRows, headBits } = layout;
    const { now } = series;
    const first = { headroomExponent: headroom(headBits), exponentMost: 600 };
    const { bound } = loadScales(on, state, scales, [now], first)[0]!;
    const isScaled = scales[0] !== null;
    const constants = splitConstants(on, headBits, bound);
    // Nulls, and values out of range, count as 0.
    const split = (x: Value) =>
      splitValue(on, constants, on.keepOrZero(isScaled ? on.lt(on.abs(x), bound) : on.eq(x, x), x));
    const entering = split(now);
    const parts = partsOf(on, constants, entering);
    // Without a bound the constants are NaN, and every value counts as truncated.
    const hasRest = on.ne(entering.rest, parts[1]);
    const isShort = isScaled
      ? on.or(hasRest, on.eq(on.abs(now), on.number(Number.POSITIVE_INFINITY)))
      : hasRest;
    const before = loadParts(on, layout.sum);
    const sum = moveSum(on, before, entering, split(on.lag(series, windowRows)));
    storeParts(on, layout.sum, sum);
    const truncated = truncatedRows(on, layout, bound, isShort);
    if (layout.ramp === null) return { sum, ramp: null, truncated, state };
    // Every weight drops by one, then today enters with the largest.
    const weight = on.number(windowRows);
    const old = loadParts(on, layout.ramp);
    const advance = (i: 0 | 1) => on.add(on.sub(old[i], before[i]), on.mul(weight, parts[i]));
    const ramp: Parts = [advance(0), advance(1)];
    storeParts(on, layout.ramp, ramp);
    return { sum, ramp, truncated, state };
  },
  rebuild: addUp,
  bounds: boundsOf((rows, layout, i, row, lane) => {
    bounds[i] = boundOf(rows, layout, row, lane);
  }),
};

function truncatedRows(
  on: WindowBuilder,
  { truncated, windowRows, headBits }: Layout,
  bound: Value,
  isShort: Mask,
): LinearSums["truncated"] {
  if (truncated === null) return null;
  const rows = on.keepOrZero(on.not(isShort), on.add(on.loadVector(truncated), on.number(1)));
  on.storeVector(truncated, rows);
  return {
    mask: on.lt(rows, on.number(windowRows)),
    dropped: on.mul(bound, on.number(secondStep(headBits))),
  };
}

/** Parts of the sum, then of the weighted sum. Numbers in arrays and plain loops: V8 compiles this once, and early. */
const parts = new Float64Array(4);
const OF_RAMP = 2;

function addUp(rows: StateRows, layout: Layout, row: number, lane: number): void {
  const { column, windowRows, headBits } = layout;
  const [scale] = layout.scales;
  const bound = scale === null ? UNIT_BOUND : rows.read(scale.bound, lane);
  const { first, second } = splitFactors(headBits);
  parts.fill(Number.isNaN(bound) ? Number.NaN : 0);
  let truncated = NEVER;
  const values = rows.window(column, row, windowRows, lane);
  for (let weight = 1; weight <= windowRows; weight++) {
    const value = values[weight - 1]!;
    truncated++;
    if (Number.isNaN(value)) continue;
    const inRange = Math.abs(value) < bound ? value : 0;
    const head = headOf(inRange, bound * first);
    const tail = headOf(inRange - head, bound * second);
    if (head + tail !== value) truncated = 0;
    parts[0]! += head;
    parts[1]! += tail;
    parts[OF_RAMP]! += weight * head;
    parts[OF_RAMP + 1]! += weight * tail;
  }
  if (layout.truncated !== null) rows.write(layout.truncated, lane, truncated);
  writeParts(rows, layout.sum, lane, parts, 0);
  if (layout.ramp !== null) writeParts(rows, layout.ramp, lane, parts, OF_RAMP);
}

/** Writes two vectors. */
export function writeParts(
  rows: StateRows,
  vector: number,
  lane: number,
  values: Float64Array,
  at: number,
): void {
  rows.write(vector, lane, values[at]!);
  rows.write(vector + 1, lane, values[at + 1]!);
}

function boundOf(
  rows: StateRows,
  { column, windowRows, headBits }: Layout,
  row: number,
  lane: number,
): number {
  let largest = 0;
  const count = Math.min(row, windowRows) + 1;
  const values = rows.window(column, row, count, lane);
  for (let i = 0; i < count; i++) {
    const magnitude = Math.abs(values[i]!);
    if (magnitude > largest && magnitude < Number.POSITIVE_INFINITY) largest = magnitude;
  }
  if (largest === 0) return BOUND_OF_ZEROS;
  const { least, most } = EXPONENTS;
  // Without a bound the sums are NaN, and the reference is run.
  if (exponentAbove(largest) > most) return NO_BOUND;
  return 2 ** Math.min(most, Math.max(least, exponentAbove(largest) + headroom(headBits)));
}

/**
 * Powers of two from the values of a window up to a new bound, so that few later values reach it. A value loses low
 * bits when it is more than 2^(54 - 2*headBits) below the bound, so windows with few head bits can afford a larger
 * headroom.
 */
function headroom(headBits: number): number {
  return headBits <= ROOMY_HEAD_BITS ? 10 : HEADROOM_EXPONENT;
}
