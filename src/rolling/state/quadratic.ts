import { low, twoProduct } from "../../exact/double_double.ts";
import type { Mask, Value } from "../../operator/lowering.ts";
import type {
  Series,
  StateLayout,
  StateRows,
  WindowBuilder,
  WindowState,
} from "../../operator/window_code.ts";
import {
  addSplit,
  headBitsOf,
  loadParts,
  moveSum,
  type Parts,
  type SplitValue,
  splitConstants,
  splitFactors,
  splitProduct,
  splitValue,
  storeParts,
} from "../split_sums.ts";
import {
  BOUND_OF_ZEROS,
  bounds,
  boundsOf,
  COLUMNS_MAX,
  exponentAbove,
  HEADROOM_EXPONENT,
  type LoadedScale,
  loadScales,
  NO_BOUND,
  NO_VALUE_YET,
  pivots,
  type Scale,
  UNIT_BOUND,
} from "./bounds.ts";
import { writeParts } from "./linear.ts";

/** Columns over one window. */
interface OfColumns {
  readonly columns: readonly Series[];
  readonly windowRows: number;
  /** True if a row counts only where every column has a value. */
  readonly isJoint: boolean;
}

interface Layout {
  readonly columns: readonly number[];
  readonly windowRows: number;
  readonly headBits: number;
  readonly isJoint: boolean;
  /** For each column the vectors of its bound and its pivot, or null where its range gives them. */
  readonly scales: readonly (Scale | null)[];
  /** For each column the two parts of its sum. */
  readonly sums: readonly number[];
  readonly products: readonly { readonly i: number; readonly j: number; readonly vector: number }[];
  /** Rows in which every column has a value, if they are counted. */
  readonly count: number | null;
}

/** Sums and products of deviations over one window, in two parts each. */
export interface Moments extends Omit<OfColumns, "columns"> {
  readonly headBits: number;
  /** Number of values: a constant, or one per lane. */
  readonly count: Value;
  readonly bounds: readonly Value[];
  /** What is subtracted from the values of a column; null for nothing. */
  readonly pivots: readonly (Value | null)[];
  readonly sums: readonly Parts[];
  /** By column, those with itself and with later ones. */
  readonly products: readonly (readonly Parts[])[];
  readonly state: number;
}

/** Exponents of the largest and smallest bounds; windows beyond them use the reference. */
const EXPONENTS = { least: -400, most: 400 } as const;

const FIRST_BOUND = { headroomExponent: HEADROOM_EXPONENT, exponentMost: 300 };

/** Windows of at most this many values may be narrow by chance. */
const FEW_VALUES = 2;

/**
 * Maximum headroom is 2^(17 - headBits) above the spread; beyond it more than about 1 in 10,000 variances would need
 * the reference.
 */
const ROOM_EXPONENT = 17;

/**
 * Running sums of deviations and of their products over a window, for variances, covariances and correlations.
 *
 * Deviations are differences from a pivot of the lane, chosen such that they are exact. They and their products are the
 * sums of `split_sums.ts`, but what lies below the second place is dropped: the sums are exact sums of slightly rounded
 * terms, so a leaving value leaves no trace, and their error bound follows from the lane's bound alone. Where that does
 * not determine the last bit of a result, the reference does.
 */
export const quadratic: WindowState<OfColumns, Layout, Moments> = {
  kind: "quadratic",
  keyOf: ({ columns, windowRows, isJoint }) =>
    `${columns.map(({ column }) => column).join(" ")} ${windowRows} ${isJoint}`,
  reserve(layout, { columns, windowRows, isJoint }) {
    const pairs = columns.flatMap((_, i) => columns.slice(i).map((__, k) => ({ i, j: i + k })));
    return {
      columns: columns.map(({ column }) => column),
      windowRows,
      headBits: headBitsOf(windowRows),
      isJoint,
      scales: columns.map((series) => (series.range === null ? reserveScale(layout, series) : null)),
      sums: columns.map(() => layout.vectors([0, 0])),
      products: pairs.map((pair) => ({ ...pair, vector: layout.vectors([0, 0]) })),
      count: isJoint ? layout.vectors([0]) : null,
    };
  },
  emit(on, layout, { columns, windowRows, isJoint }, state) {
    const { headBits } = layout;
    const today = columns.map(({ now }) => now);
    const scales = loadScales(on, state, layout.scales, today, FIRST_BOUND);
    const old = columns.map((series) => on.lag(series, windowRows));
    const ofToday = scales.map(({ deviation }) => deviation);
    const entering = deviations(on, scales, ofToday, isJoint);
    const ofOld = old.map((value, i) => {
      const { pivot } = scales[i]!;
      return pivot === null ? value : on.sub(value, pivot);
    });
    const leaving = deviations(on, scales, ofOld, isJoint);
    const sums = layout.sums.map((vector, i) =>
      on.scope(() => {
        const constants = splitConstants(on, headBits, scales[i]!.bound);
        const [enter, leave] = [entering, leaving].map((values) => splitValue(on, constants, values[i]!));
        return advance(on, vector, enter!, leave!);
      }),
    );
    const products: Parts[][] = columns.map(() => []);
    for (const { i, j, vector } of layout.products)
      products[i]!.push(
        on.scope(() => {
          const constants = splitConstants(on, headBits, on.mul(scales[i]!.bound, scales[j]!.bound));
          const enter = splitProduct(on, constants, entering[i]!, entering[j]!);
          return advance(on, vector, enter, splitProduct(on, constants, leaving[i]!, leaving[j]!));
        }),
      );
    return {
      windowRows,
      isJoint,
      headBits,
      count: layout.count === null ? on.number(windowRows) : countRows(on, layout.count, today, old),
      bounds: scales.map(({ bound }) => bound),
      pivots: scales.map(({ pivot }) => pivot),
      sums,
      products,
      state,
    };
  },
  rebuild: addUp,
  bounds: boundsOf(chooseScale),
};

function reserveScale(layout: StateLayout, { column }: Series): Scale {
  const bound = layout.vectors([NO_VALUE_YET, 0]);
  return { column, bound, pivot: bound + 1 };
}

/** Deviations, 0 where one is out of range or null: its own, or with `isJoint` that of any column. */
function deviations(
  on: WindowBuilder,
  scales: readonly LoadedScale[],
  raw: readonly Value[],
  isJoint: boolean,
): Value[] {
  const masks = raw.map((deviation, i): Mask => {
    const { bound, pivot } = scales[i]!;
    return pivot === null ? on.eq(deviation, deviation) : on.lt(on.abs(deviation), bound);
  });
  const all = isJoint ? masks.reduce((joint, mask) => on.and(joint, mask)) : null;
  return raw.map((deviation, i) => on.keepOrZero(all ?? masks[i]!, deviation));
}

function countRows(on: WindowBuilder, vector: number, today: readonly Value[], old: readonly Value[]): Value {
  const one = (values: readonly Value[]) =>
    on.keepOrZero(
      values.map((value) => on.eq(value, value)).reduce((all, mask) => on.and(all, mask)),
      on.number(1),
    );
  const count = on.add(on.loadVector(vector), on.sub(one(today), one(old)));
  on.storeVector(vector, count);
  return count;
}

function advance(on: WindowBuilder, vector: number, enter: SplitValue, leave: SplitValue): Parts {
  const sum = moveSum(on, loadParts(on, vector), enter, leave);
  storeParts(on, vector, sum);
  return sum;
}

/**
 * For each column of the window that is added up its rows, and its deviation in one of them; the sums in two parts each. Most lanes need it in the first rows of a panel, before V8 has compiled any JavaScript: numbers are in
 * arrays of doubles and loops are plain, so that each function is compiled once, and early.
 */
const deviationsOfRow = new Float64Array(COLUMNS_MAX);
const windows: Float64Array[] = [];
const parts = new Float64Array(2 * (COLUMNS_MAX + (COLUMNS_MAX * (COLUMNS_MAX + 1)) / 2));

function addUp(rows: StateRows, layout: Layout, row: number, lane: number): void {
  const { columns, scales, windowRows } = layout;
  const rowCount = Math.min(row + 1, windowRows);
  let hasBounds = true;
  for (let i = 0; i < columns.length; i++) {
    const scale = scales[i]!;
    bounds[i] = scale === null ? UNIT_BOUND : rows.read(scale.bound, lane);
    pivots[i] = scale === null ? 0 : rows.read(scale.pivot!, lane);
    hasBounds &&= !Number.isNaN(bounds[i]);
  }
  for (let i = 0; i < columns.length; i++) windows[i] = rows.window(columns[i]!, row, rowCount, lane, i);
  addUpRows(rows, layout, rowCount, hasBounds ? 0 : Number.NaN, lane);
}

/**
 * Chooses the bound and the pivot of a column. The pivot is a value of the window if all are near it, else 0, which stays
 * valid when values drift. Differences from it are exact: they are below half of the pivot (Sterbenz).
 */
function chooseScale(rows: StateRows, layout: Layout, i: number, row: number, lane: number): void {
  let candidate = Number.NaN;
  let spread = 0;
  let largest = 0;
  let count = 0;
  const rowCount = Math.min(row, layout.windowRows) + 1;
  const values = rows.window(layout.columns[i]!, row, rowCount, lane);
  for (let r = rowCount - 1; r >= 0; r--) {
    const value = values[r]!;
    if (!Number.isFinite(value)) continue;
    if (Number.isNaN(candidate)) candidate = value;
    count++;
    spread = Math.max(spread, Math.abs(value - candidate));
    largest = Math.max(largest, Math.abs(value));
  }
  pivots[i] = 0;
  if (largest === 0) bounds[i] = BOUND_OF_ZEROS;
  else if (exponentAbove(largest) > EXPONENTS.most) bounds[i] = NO_BOUND;
  else {
    const size = Math.abs(candidate);
    // A constant window gets room for values that differ from it in their last twenty bits.
    const width = exponentAbove(spread === 0 ? size * 2 ** -32 : spread);
    const room = Math.max(HEADROOM_EXPONENT, ROOM_EXPONENT - layout.headBits);
    const far = exponentAbove(largest) + HEADROOM_EXPONENT;
    // The larger the bound, the longer values may drift; up to half of the pivot differences from it are exact.
    const near = Math.min(width + room, exponentAbove(size) - 2);
    // Within the least bound differences from a smaller pivot would round.
    const isNarrow = width + HEADROOM_EXPONENT <= near && near >= EXPONENTS.least;
    const isFar = width + room >= far || !isNarrow || count <= FEW_VALUES;
    bounds[i] = 2 ** Math.max(EXPONENTS.least, isFar ? far : near);
    if (!isFar) pivots[i] = candidate;
  }
}

/** Writes the sums over the windows that were read; `nothing` is NaN for sums that no bound holds for. */
function addUpRows(
  rows: StateRows,
  { sums, products, isJoint, headBits, count }: Layout,
  rowCount: number,
  nothing: number,
  lane: number,
): void {
  const { first, second } = splitFactors(headBits);
  const ofProducts = 2 * sums.length;
  parts.fill(nothing);
  let counted = 0;
  for (let r = 0; r < rowCount; r++) {
    const missing = deviate(r, sums.length);
    if (missing !== MISSING.null) counted++;
    if (isJoint && missing !== MISSING.nothing) continue;
    for (let i = 0; i < sums.length; i++)
      addSplit(parts, 2 * i, deviationsOfRow[i]!, 0, bounds[i]! * first, bounds[i]! * second);
    for (let k = 0; k < products.length; k++) {
      const { i, j } = products[k]!;
      const bound = bounds[i]! * bounds[j]!;
      const high = twoProduct(deviationsOfRow[i]!, deviationsOfRow[j]!);
      addSplit(parts, ofProducts + 2 * k, high, low[0]!, bound * first, bound * second);
    }
  }
  for (let i = 0; i < sums.length; i++) writeParts(rows, sums[i]!, lane, parts, 2 * i);
  for (let k = 0; k < products.length; k++)
    writeParts(rows, products[k]!.vector, lane, parts, ofProducts + 2 * k);
  if (count !== null) rows.write(count, lane, counted);
}

/** What a row of a window lacks. */
const MISSING = { nothing: 0, outside: 1, null: 2 } as const;

/** The deviations of a row, 0 where a value is null or out of range. Returns what is missing: null before out of range. */
function deviate(row: number, columnCount: number): number {
  let missing: number = MISSING.nothing;
  for (let i = 0; i < columnCount; i++) {
    const value = windows[i]![row]!;
    const deviation = value - pivots[i]!;
    const isInside = Math.abs(deviation) < bounds[i]!;
    deviationsOfRow[i] = isInside ? deviation : 0;
    if (Number.isNaN(value)) missing = MISSING.null;
    else if (!isInside && missing === MISSING.nothing) missing = MISSING.outside;
  }
  return missing;
}
