import { Bounded } from "./bounded.ts";
import { BoundedSeries } from "./bounded_series.ts";
import { Exact } from "./exact_real.ts";
import { ExactSeries } from "./exact_series.ts";
import type { Real, Series } from "./real.ts";
import { hasInfinity } from "./special_values.ts";

/**
 * Statistics as exact real values, rounded once to the nearest double. A statistic is defined once, over any kind of
 * number. Double-doubles with a bound on their error evaluate it first: nearly always the bound leaves one double.
 * Elsewhere, as for ties, results near 0 and the ends of the range, integers evaluate the same definition.
 */

type Statistic = <T extends Real<T>>(...columns: Series<T>[]) => T;

/** Loaded again for every statistic: new ones would cost more than the arithmetic. */
const SERIES = [new BoundedSeries(), new BoundedSeries(), new BoundedSeries(), new BoundedSeries()] as const;

function estimated<Result>(
  columns: readonly Float64Array[],
  define: (...columns: BoundedSeries[]) => Result,
): Result {
  for (let i = 0; i < columns.length; i++) SERIES[i]!.load(columns[i]!);
  return define(SERIES[0], SERIES[1], SERIES[2], SERIES[3]);
}

function evaluated<Result>(
  columns: readonly Float64Array[],
  define: (...columns: ExactSeries[]) => Result,
): Result {
  return define(...columns.map((values) => new ExactSeries(values)));
}

/** A statistic of finite columns `[n]`, at most four; `ofInfinite` of the first where one holds an infinity. */
export function certified(
  columns: readonly Float64Array[],
  define: Statistic,
  ofInfinite: (values: Float64Array) => number = () => Number.NaN,
): number {
  const rounded = estimated(columns, define).rounded();
  if (!Number.isNaN(rounded)) return rounded;
  if (columns.some(hasInfinity)) return ofInfinite(columns[0]!);
  return evaluated(columns, define).rounded();
}

/** Defines a number for each of the values `[n]`; NaN for all where that is undefined or a value is infinite. */
export function certifiedRow(
  columns: readonly Float64Array[],
  output: Float64Array,
  isDefined: boolean,
  define: <T extends Real<T>>(...columns: Series<T>[]) => (i: number) => T,
): void {
  if (!isDefined || columns.some(hasInfinity)) {
    output.fill(Number.NaN);
    return;
  }
  const estimate = estimated(columns, define);
  for (let i = 0; i < output.length; i++) output[i] = estimate(i).rounded();
  let exact: ((i: number) => Exact) | undefined;
  for (let i = 0; i < output.length; i++) {
    if (!Number.isNaN(output[i])) continue;
    exact ??= evaluated(columns, define);
    output[i] = exact(i).rounded();
  }
}

/** A number made of finite ones: `exactly` gives one, or the sum of two, the kind that is to be computed with. */
export function certifiedNumber(
  define: <T extends Real<T>>(exactly: (x: number, y?: number) => T) => T,
): number {
  const rounded = define(Bounded.exactly).rounded();
  return Number.isNaN(rounded) ? define(Exact.exactly).rounded() : rounded;
}
