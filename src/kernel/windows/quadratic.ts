import type { Value } from "../../operator/lowering.ts";
import type { LaneKernel } from "../lane_kernel.ts";
import {
  isCertain,
  minus,
  over,
  PAIR_ERROR,
  type Pair,
  quickTwoSum,
  squareRoot,
  times,
  timesNumber,
  twoProduct,
  twoSum,
} from "./double_double.ts";
import { EXACT_CROSS_MAX, exactCross } from "./exact_cross.ts";
import { cutFactors, headBitsOf, NO_BOUND } from "./linear.ts";

/**
 * Running sums of deviations and of their products over a window, for variances, covariances and correlations.
 *
 * Deviations are taken from a pivot of the lane that is chosen such that the difference is exact; they and their
 * products are cut as in `linear.ts`, but what lies below the second place is dropped: the sums are exact sums of
 * slightly rounded terms, so nothing stays behind when a value leaves, and their error has a bound that follows from
 * the lane's bound alone. Where that does not decide the last bit of a result, the reference does.
 */
export interface QuadraticSite {
  readonly kind: "quadratic";
  readonly columns: readonly number[];
  readonly windowRows: number;
  readonly headBits: number;
  /** For each column the vectors of its bound and its pivot, or null where all values lie within 0..1. */
  readonly scales: readonly ({ readonly bound: number; readonly pivot: number } | null)[];
  /** For each column the two parts of its sum. */
  readonly sums: readonly number[];
  readonly products: readonly { readonly i: number; readonly j: number; readonly vector: number }[];
  /** Rows in which every column has a value, if they are counted. */
  readonly count: number | null;
}

/** Bound of columns whose values lie within 0..1. */
export const UNIT_BOUND = 2;

/** Below this a product of pairs may lose its low part. */
const MAGNITUDE_MIN = 2 ** -900;

interface Scale {
  readonly bound: Value;
  readonly pivot: Value | null;
}

interface Cut {
  readonly first: Value;
  readonly second: Value;
}

/** Moments of some columns over one window; every pair is an exact or nearly exact sum. */
export interface Moments {
  /** Number of values: known, or one per lane. */
  readonly count: Value;
  readonly bounds: readonly Value[];
  readonly sums: readonly Pair[];
  product(i: number, j: number): Pair;
  readonly windowRows: number;
  readonly headBits: number;
  readonly site: number;
  readonly columns: readonly number[];
  /** True if all bits of the cross moment can be had. */
  readonly isExactable: boolean;
}

export interface MomentColumn {
  readonly column: number;
  readonly now: Value;
  readonly isUnit: boolean;
}

/** Sums over the last `windowRows` rows in which every column is in range; they are counted if `counts`. */
export function moments(
  on: LaneKernel,
  columns: readonly MomentColumn[],
  windowRows: number,
  counts: boolean,
): Moments {
  const pairs = columns.flatMap((_, i) => columns.slice(i).map((__, k) => ({ i, j: i + k })));
  const site: QuadraticSite = {
    kind: "quadratic",
    columns: columns.map(({ column }) => column),
    windowRows,
    headBits: headBitsOf(windowRows),
    scales: columns.map(({ isUnit }) => {
      if (isUnit) return null;
      const bound = on.state.addWindow([NO_BOUND, 0]);
      return { bound, pivot: bound + 1 };
    }),
    sums: columns.map(() => on.state.addWindow([0, 0])),
    products: pairs.map((pair) => ({ ...pair, vector: on.state.addWindow([0, 0]) })),
    count: counts ? on.state.addWindow([0]) : null,
  };
  const index = checkScales(on, site, columns);
  const scales = site.scales.map((scale): Scale => {
    if (!scale) return { bound: on.number(UNIT_BOUND), pivot: null };
    return { bound: on.loadWindow(scale.bound), pivot: on.loadWindow(scale.pivot) };
  });
  const entering = deviations(
    on,
    scales,
    columns.map(({ now }) => now),
  );
  const leaving = deviations(
    on,
    scales,
    columns.map(({ column }) => on.load(column, windowRows)),
  );
  const advance = (vector: number, enter: Cut, leave: Cut): Pair => {
    const first = on.add(on.loadWindow(vector), on.sub(enter.first, leave.first));
    const second = on.add(on.loadWindow(vector + 1), on.sub(enter.second, leave.second));
    on.storeWindow(vector, first);
    on.storeWindow(vector + 1, second);
    return twoSum(on, first, second);
  };
  const sums = site.sums.map((vector, i) => {
    const cuts = cutsOf(on, site.headBits, (scales[i] as Scale).bound);
    return on.scope(() => {
      const pair = advance(
        vector,
        cutValue(on, cuts, entering.values[i]!),
        cutValue(on, cuts, leaving.values[i]!),
      );
      return [pair.high, pair.low];
    });
  });
  const products = site.products.map(({ i, j, vector }) =>
    on.scope(() => {
      const bound = on.mul((scales[i] as Scale).bound, (scales[j] as Scale).bound);
      const cuts = cutsOf(on, site.headBits, bound);
      const enter = cutProduct(on, cuts, entering.values[i]!, entering.values[j]!);
      const leave = cutProduct(on, cuts, leaving.values[i]!, leaving.values[j]!);
      const pair = advance(vector, enter, leave);
      return [pair.high, pair.low];
    }),
  );
  let count = on.number(windowRows);
  if (site.count !== null) {
    const one = on.number(1);
    const change = on.sub(on.keepOrZero(entering.present, one), on.keepOrZero(leaving.present, one));
    count = on.add(on.loadWindow(site.count), change);
    on.storeWindow(site.count, count);
  }
  const pairOf = (parts: readonly Value[]): Pair => ({ high: parts[0] as Value, low: parts[1] as Value });
  return {
    count,
    bounds: scales.map(({ bound }) => bound),
    sums: sums.map(pairOf),
    product: (i, j) => pairOf(products[pairs.findIndex((pair) => pair.i === i && pair.j === j)]!),
    windowRows,
    headBits: site.headBits,
    site: index,
    columns: site.columns,
    isExactable:
      !counts &&
      columns.every(({ isUnit }) => isUnit) &&
      windowRows <= EXACT_CROSS_MAX.rows &&
      on.plan.laneCount <= EXACT_CROSS_MAX.lanes,
  };
}

/** Has the host choose scales where there are none or a value is out of its scale. */
function checkScales(on: LaneKernel, site: QuadraticSite, columns: readonly MomentColumn[]): number {
  const outside = site.scales.flatMap((scale, i) => {
    if (!scale) return [];
    const { now } = columns[i] as MomentColumn;
    const bound = on.loadWindow(scale.bound);
    const deviation = on.abs(on.sub(now, on.loadWindow(scale.pivot)));
    const isOutside = on.andNot(on.not(on.lt(deviation, bound)), on.isNull(now));
    return [on.or(isOutside, on.eq(bound, on.number(NO_BOUND)))];
  });
  if (outside.length === 0) return on.noteSite(site);
  return on.repairIf(
    outside.reduce((any, mask) => on.or(any, mask)),
    site,
  );
}

/** Deviations from the pivots, 0 for all columns where one of them is out of range or null. */
function deviations(on: LaneKernel, scales: readonly Scale[], values: readonly Value[]) {
  const raw = values.map((value, i) => {
    const { pivot } = scales[i] as Scale;
    return pivot === null ? value : on.sub(value, pivot);
  });
  const present = raw
    .map((deviation, i) => on.lt(on.abs(deviation), (scales[i] as Scale).bound))
    .reduce((all, mask) => on.and(all, mask));
  return { values: raw.map((deviation) => on.keepOrZero(present, deviation)), present };
}

function cutsOf(on: LaneKernel, headBits: number, bound: Value): Cut {
  const factors = cutFactors(headBits);
  return { first: on.mul(bound, on.number(factors.first)), second: on.mul(bound, on.number(factors.second)) };
}

function cutValue(on: LaneKernel, cuts: Cut, x: Value): Cut {
  const first = on.sub(on.add(x, cuts.first), cuts.first);
  const rest = on.sub(x, first);
  return { first, second: on.sub(on.add(rest, cuts.second), cuts.second) };
}

function cutProduct(on: LaneKernel, cuts: Cut, x: Value, y: Value): Cut {
  const { high, low } = twoProduct(on, x, y);
  const first = on.sub(on.add(high, cuts.first), cuts.first);
  const rest = on.add(on.sub(high, first), low);
  return { first, second: on.sub(on.add(rest, cuts.second), cuts.second) };
}

/** A number that lies within `error` of its pair. */
export interface Bounded extends Pair {
  readonly error: Value;
}

/**
 * `n * sum(x y) - sum(x) * sum(y)`, that is n * (n - 1) times the sample covariance, whatever the pivots.
 *
 * With b = bound(x) * bound(y) and h head bits, each of at most d terms of the product sum is off by
 * b * 2^(2h-107), each term of a sum by bound * 2^(2h-108): together at most 2 * d^2 * b * 2^(2h-107).
 */
export function crossMoment(on: LaneKernel, of: Moments, i: number, j: number): Bounded {
  const scaled = timesNumber(on, of.product(i, j), of.count);
  const sumI = of.sums[i] as Pair;
  const sumJ = of.sums[j] as Pair;
  const squared = times(on, sumI, i === j ? sumI : sumJ);
  const { high, low } = minus(on, scaled, squared);
  const dropped = 2 * of.windowRows ** 2 * 2 ** (2 * of.headBits - 107);
  const bound = on.mul(of.bounds[i] as Value, of.bounds[j] as Value);
  const magnitude = on.add(on.abs(scaled.high), on.abs(squared.high));
  const error = on.add(on.mul(bound, on.number(dropped)), on.mul(magnitude, on.number(4 * PAIR_ERROR)));
  return { high, low, error };
}

/** The sample variance (ddof 1). */
export function variance(on: LaneKernel, of: Moments): Bounded {
  const cross = crossMoment(on, of, 0, 0);
  const divisor = on.mul(of.count, on.sub(of.count, on.number(1)));
  const quotient = over(on, cross, { high: divisor, low: on.number(0) });
  const error = on.add(on.div(cross.error, divisor), on.mul(quotient.high, on.number(4 * PAIR_ERROR)));
  return { ...quotient, error };
}

/** The sample standard deviation (ddof 1). */
export function standardDeviation(on: LaneKernel, of: Moments): Bounded {
  const square = variance(on, of);
  const root = squareRoot(on, square);
  const inherited = on.div(square.error, root.high);
  return { ...root, error: on.add(inherited, on.mul(root.high, on.number(4 * PAIR_ERROR))) };
}

/** The sample covariance (ddof 1) of the two columns. */
export function covariance(on: LaneKernel, of: Moments): Bounded {
  const cross = crossMoment(on, of, 0, 1);
  const divisor = on.mul(of.count, on.sub(of.count, on.number(1)));
  const quotient = over(on, cross, { high: divisor, low: on.number(0) });
  const error = on.add(
    on.div(cross.error, divisor),
    on.mul(on.abs(quotient.high), on.number(4 * PAIR_ERROR)),
  );
  return { ...quotient, error };
}

/** The Pearson correlation of the two columns. */
export function correlation(on: LaneKernel, of: Moments): Bounded {
  const [a, b, c] = [crossMoment(on, of, 0, 0), crossMoment(on, of, 1, 1), crossMoment(on, of, 0, 1)];
  const usual = ratio(on, a, b, c);
  if (!of.isExactable) return usual;
  // Correlations of ranks are often nothing but the ranks' own rounding errors: then every bit counts.
  const { columns, windowRows } = of;
  const [high, low, error] = [on.copy(usual.high), on.copy(usual.low), on.copy(usual.error)];
  on.ifAny(on.not(isCertain(on, usual, usual.error)), () => {
    on.scope(() => {
      const cross = exactCross(on, columns as readonly [number, number], windowRows);
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
function ratio(on: LaneKernel, a: Bounded, b: Bounded, c: Bounded): Bounded {
  const product = times(on, a, b);
  const root = on.sqrt(product.high);
  const inverse = on.div(on.number(1), root);
  const square = twoProduct(on, root, root);
  const rootRest = on.mul(
    on.add(on.sub(on.sub(product.high, square.high), square.low), product.low),
    on.mul(inverse, on.number(0.5)),
  );
  const quotient = on.mul(c.high, inverse);
  const back = twoProduct(on, quotient, root);
  const rest = on.add(on.sub(on.sub(c.high, back.high), back.low), on.sub(c.low, on.mul(quotient, rootRest)));
  const { high, low } = quickTwoSum(on, quotient, on.mul(rest, inverse));
  // Relative errors of a and b count half; where they may exceed a and b themselves nothing is certain.
  const relative = on.mul(on.add(on.mul(a.error, b.high), on.mul(b.error, a.high)), on.mul(inverse, inverse));
  const share = on.add(relative, on.number(8 * PAIR_ERROR));
  const error = on.add(on.mul(c.error, on.mul(inverse, on.number(2))), on.mul(on.abs(high), share));
  const arePositive = on.and(on.gt(a.high, on.number(0)), on.gt(b.high, on.number(0)));
  const isNarrow = on.and(arePositive, on.lt(relative, on.number(2 ** -10)));
  const isSafe = on.and(isNarrow, on.gt(product.high, on.number(MAGNITUDE_MIN)));
  return { high, low, error: on.select(isSafe, error, on.null) };
}
