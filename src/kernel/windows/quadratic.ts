import type { Mask, Value } from "../../operator/lowering.ts";
import {
  isCertain,
  overNumber,
  PAIR_ERROR,
  type Pair,
  quickTwoDifference,
  quickTwoSum,
  residual,
  squareRoot,
  twoDifference,
  twoProduct,
} from "../emit/double_double.ts";
import type { ColumnSeries, LaneKernel } from "../emit/lane_kernel.ts";
import { EXACT_CROSS_MAX, exactCross } from "./exact_cross.ts";
import { FRESH_BOUND, UNIT_BOUND } from "./linear.ts";
import { HEADROOM_EXPONENT, type OpenScale, openScales } from "./scales.ts";
import {
  headBitsOf,
  loadParts,
  moveSum,
  type Parts,
  type SplitValue,
  secondStep,
  splitConstants,
  splitProduct,
  splitValue,
  storeParts,
} from "./splits.ts";

/**
 * Running sums of deviations and of their products over a window, for variances, covariances and correlations.
 *
 * Deviations are differences from a pivot of the lane, chosen such that they are exact. They and their products are
 * split as in `linear.ts`, but what lies below the second place is dropped: the sums are exact sums of slightly rounded
 * terms, so a leaving value leaves no trace, and their error bound follows from the lane's bound alone. Where that does
 * not determine the last bit of a result, the reference does.
 */
export interface QuadraticSite {
  readonly kind: "quadratic";
  readonly columns: readonly number[];
  readonly windowRows: number;
  readonly headBits: number;
  /** True if a row counts only where every column has a value. */
  readonly isJoint: boolean;
  /** For each column the vectors of its bound and its pivot, or null where its range gives them. */
  readonly scales: readonly ({ readonly bound: number; readonly pivot: number } | null)[];
  /** For each column the two parts of its sum. */
  readonly sums: readonly number[];
  readonly products: readonly { readonly i: number; readonly j: number; readonly vector: number }[];
  /** Rows in which every column has a value, if they are counted. */
  readonly count: number | null;
}

/** Below this a product of pairs may lose its low part. */
const MAGNITUDE_MIN = 2 ** -900;

/** Moments of columns over one window; sums and products of deviations in two parts each. */
export interface Moments {
  readonly columns: readonly ColumnSeries[];
  readonly windowRows: number;
  readonly headBits: number;
  /** Number of values: a constant, or one per lane. */
  readonly count: Value;
  readonly bounds: readonly Value[];
  readonly sums: readonly Parts[];
  readonly products: readonly Parts[];
  product(i: number, j: number): Parts;
  readonly isJoint: boolean;
  readonly site: number;
}

/**
 * Sums over the last `windowRows` rows; with `isJoint` over those in which every column has a value, which are counted.
 */
export function moments(
  on: LaneKernel,
  columns: readonly ColumnSeries[],
  windowRows: number,
  isJoint: boolean,
): Moments {
  const key = columns.map(({ column }) => column).join(" ");
  return on.onceMade(
    `moments ${key} ${windowRows} ${isJoint}`,
    () => addUp(on, columns, windowRows, isJoint),
    ({ count, bounds, sums, products }) => [count, ...bounds, ...sums.flat(), ...products.flat()],
  );
}

function addUp(
  on: LaneKernel,
  columns: readonly ColumnSeries[],
  windowRows: number,
  isJoint: boolean,
): Moments {
  const site = makeSite(on, columns, windowRows, isJoint);
  const { headBits } = site;
  const index = on.noteSite(site);
  const scales = scalesOf(on, site, index, columns);
  const today = columns.map(({ now }) => now);
  const old = columns.map(({ column }) => on.load(column, windowRows));
  const ofToday = scales.map(({ deviation }) => deviation);
  const entering = deviations(on, scales, ofToday, isJoint);
  const ofOld = old.map((value, i) => {
    const { pivot } = scales[i]!;
    return pivot === null ? value : on.sub(value, pivot);
  });
  const leaving = deviations(on, scales, ofOld, isJoint);
  const sums = site.sums.map((vector, i) =>
    on.scope(() => {
      const constants = splitConstants(on, headBits, scales[i]!.bound);
      return advance(
        on,
        vector,
        splitValue(on, constants, entering[i]!),
        splitValue(on, constants, leaving[i]!),
      );
    }),
  );
  const products = site.products.map(({ i, j, vector }) =>
    on.scope(() => {
      const constants = splitConstants(on, headBits, on.mul(scales[i]!.bound, scales[j]!.bound));
      const enter = splitProduct(on, constants, entering[i]!, entering[j]!);
      return advance(on, vector, enter, splitProduct(on, constants, leaving[i]!, leaving[j]!));
    }),
  );
  return {
    columns,
    windowRows,
    headBits,
    count: site.count === null ? on.number(windowRows) : countRows(on, site.count, today, old),
    bounds: scales.map(({ bound }) => bound),
    sums,
    products,
    product: (i, j) => products[site.products.findIndex((product) => product.i === i && product.j === j)]!,
    isJoint,
    site: index,
  };
}

function makeSite(
  on: LaneKernel,
  columns: readonly ColumnSeries[],
  windowRows: number,
  isJoint: boolean,
): QuadraticSite {
  const pairs = columns.flatMap((_, i) => columns.slice(i).map((__, k) => ({ i, j: i + k })));
  return {
    kind: "quadratic",
    columns: columns.map(({ column }) => column),
    windowRows,
    headBits: headBitsOf(windowRows),
    isJoint,
    scales: columns.map(({ range }) => {
      if (range !== null) return null;
      const bound = on.state.addWindow([FRESH_BOUND, 0]);
      return { bound, pivot: bound + 1 };
    }),
    sums: columns.map(() => on.state.addWindow([0, 0])),
    products: pairs.map((pair) => ({ ...pair, vector: on.state.addWindow([0, 0]) })),
    count: isJoint ? on.state.addWindow([0]) : null,
  };
}

/**
 * Loads each column's bound and pivot, re-choosing them if today's value exceeds the bound; also returns today's
 * deviation.
 */
function scalesOf(
  on: LaneKernel,
  site: QuadraticSite,
  index: number,
  columns: readonly ColumnSeries[],
): OpenScale[] {
  const kept = site.scales.flatMap((scale, i) => (scale ? [{ scale, now: columns[i]!.now }] : []));
  const opened =
    kept.length === 0
      ? []
      : openScales(
          on,
          index,
          kept.map(({ scale }) => ({ ...scale, headroomExponent: HEADROOM_EXPONENT, exponentMost: 300 })),
          kept.map(({ now }) => now),
          site.isJoint,
        );
  return site.scales.map((scale, i): OpenScale => {
    if (!scale) return { bound: on.number(UNIT_BOUND), pivot: null, deviation: columns[i]!.now };
    return opened[kept.findIndex((one) => one.scale === scale)]!;
  });
}

/** Deviations, 0 where one is out of range or null: its own, or with `isJoint` that of any column. */
function deviations(
  on: LaneKernel,
  scales: readonly OpenScale[],
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

function countRows(on: LaneKernel, vector: number, today: readonly Value[], old: readonly Value[]): Value {
  const one = (values: readonly Value[]) =>
    on.keepOrZero(
      values.map((value) => on.eq(value, value)).reduce((all, mask) => on.and(all, mask)),
      on.number(1),
    );
  const count = on.add(on.loadWindow(vector), on.sub(one(today), one(old)));
  on.storeWindow(vector, count);
  return count;
}

function advance(on: LaneKernel, vector: number, enter: SplitValue, leave: SplitValue): Parts {
  const sum = moveSum(on, loadParts(on, vector), enter, leave);
  storeParts(on, vector, sum);
  return sum;
}

/** A number within `error` of its pair. */
export interface BoundedPair extends Pair {
  readonly error: Value;
}

/**
 * `n * sum(x y) - sum(x) * sum(y)`, that is n * (n - 1) times the sample covariance, whatever the pivots.
 *
 * With b = bound(x) * bound(y), h head bits and step2 = b * 2^(2h-107): each of the at most d terms of the product sum
 * is off by about step2 / 2, those of the sums in proportion, and the product of the second parts is left out: together
 * below 2 * d^2 * step2. Other roundings, and the loss where the first operand is not the larger one as it should be
 * (then the result is as small as the second parts are), are below 8 * d^2 * step2.
 */
export function crossMoment(on: LaneKernel, of: Moments, i: number, j: number): BoundedPair {
  const [first, second] = of.product(i, j);
  const [s1, s2] = of.sums[i]!;
  const [t1, t2] = of.sums[j]!;
  const scaled = twoProduct(on, of.count, first);
  const squared = twoProduct(on, s1, t1);
  // A sum of squares times n is the larger one.
  const main = (i === j ? quickTwoDifference : twoDifference)(on, scaled.high, squared.high);
  const excess = on.sub(squared.excess, scaled.excess);
  const less =
    i === j
      ? on.fusedMultiplySubtract(on.add(s1, s1), s2, excess)
      : on.fusedMultiplySubtract(s1, t2, on.fusedMultiplySubtract(s2, t1, excess));
  const rest = on.fusedMultiplyAdd(of.count, second, less);
  const { high, low } = quickTwoSum(on, main.high, on.add(main.low, rest));
  const step = secondStep(of.headBits);
  const bound = on.mul(of.bounds[i]!, of.bounds[j]!);
  return { high, low, error: on.mul(bound, on.number(10 * of.windowRows ** 2 * step)) };
}

/** A cross moment over n * (n - 1). */
function overFreedom(on: LaneKernel, of: Moments, cross: BoundedPair): BoundedPair {
  const divisor = on.mul(of.count, on.sub(of.count, on.number(1)));
  const inverse = on.div(on.number(1), divisor);
  const quotient = overNumber(on, cross, divisor, inverse);
  const rounding = on.mul(on.abs(quotient.high), on.number(PAIR_ERROR));
  return { ...quotient, error: on.add(on.mul(cross.error, inverse), rounding) };
}

/** The sample variance (ddof 1). */
export function variance(on: LaneKernel, of: Moments): BoundedPair {
  return overFreedom(on, of, crossMoment(on, of, 0, 0));
}

/** The sample standard deviation (ddof 1). */
export function standardDeviation(on: LaneKernel, of: Moments): BoundedPair {
  const square = variance(on, of);
  const { high, low, halfInverse } = squareRoot(on, square);
  // A root is off by at most the error of the square over the root, if that is well below the square.
  const inherited = on.mul(square.error, on.mul(halfInverse, on.number(2)));
  return { high, low, error: on.add(inherited, on.mul(high, on.number(PAIR_ERROR))) };
}

/** The sample covariance (ddof 1) of the two columns. */
export function covariance(on: LaneKernel, of: Moments): BoundedPair {
  return overFreedom(on, of, crossMoment(on, of, 0, 1));
}

/** The Pearson correlation of the two columns. */
export function correlation(on: LaneKernel, of: Moments): BoundedPair {
  const [a, b, c] = [crossMoment(on, of, 0, 0), crossMoment(on, of, 1, 1), crossMoment(on, of, 0, 1)];
  const usual = ratio(on, a, b, c);
  const { columns, windowRows } = of;
  const isExactable =
    !of.isJoint &&
    columns.every(({ range }) => range === "unit") &&
    windowRows <= EXACT_CROSS_MAX.rows &&
    on.plan.laneCount <= EXACT_CROSS_MAX.lanes;
  if (!isExactable) return usual;
  // Correlations of ranks are often only the ranks' own rounding errors: then every bit counts.
  const [high, low, error] = [on.copy(usual.high), on.copy(usual.low), on.copy(usual.error)];
  // Where a column does not vary the cross moment says nothing.
  const isNarrow = on.eq(usual.error, usual.error);
  on.ifAny(on.andNot(isNarrow, isCertain(on, usual, usual.error)), () => {
    on.scope(() => {
      const cross = exactCross(on, [columns[0]!.column, columns[1]!.column], windowRows);
      const exact = ratio(on, a, b, { ...cross, error: on.mul(on.abs(cross.high), on.number(PAIR_ERROR)) });
      on.assign(high, exact.high);
      on.assign(low, exact.low);
      on.assign(error, exact.error);
      return [];
    });
  });
  return { high, low, error };
}

/** `c / sqrt(a b)`, with one square root and one division. */
function ratio(on: LaneKernel, a: BoundedPair, b: BoundedPair, c: BoundedPair): BoundedPair {
  const product = twoProduct(on, a.high, b.high);
  const root = on.sqrt(product.high);
  // In parallel with the root, which is as slow, instead of after it.
  const inverse = on.mul(root, on.div(on.number(1), product.high));
  const own = on.sub(residual(on, product.high, root, root), product.excess);
  const rootRest = on.fusedMultiplyAdd(a.high, b.low, on.fusedMultiplyAdd(a.low, b.high, own));
  const rootLow = on.mul(rootRest, on.mul(inverse, on.number(0.5)));
  const quotient = on.mul(c.high, inverse);
  const remainder = on.fusedMultiplySubtract(quotient, rootLow, c.low);
  const rest = on.add(residual(on, c.high, quotient, root), remainder);
  const { high, low } = quickTwoSum(on, quotient, on.mul(rest, inverse));
  // Relative errors of a and b count half; where they may exceed a and b themselves nothing is certain.
  const errors = on.fusedMultiplyAdd(a.error, b.high, on.mul(b.error, a.high));
  const relative = on.mul(errors, on.mul(inverse, inverse));
  const share = on.add(relative, on.number(8 * PAIR_ERROR));
  const ofCross = on.mul(c.error, on.mul(inverse, on.number(2)));
  const error = on.fusedMultiplyAdd(on.abs(high), share, ofCross);
  const least = on.pmin(a.high, b.high);
  const isNarrow = on.and(on.gt(least, on.number(0)), on.lt(relative, on.number(2 ** -10)));
  const isSafe = on.and(isNarrow, on.gt(product.high, on.number(MAGNITUDE_MIN)));
  return { high, low, error: on.select(isSafe, error, on.null) };
}
