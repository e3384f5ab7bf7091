import type { Arithmetic } from "../elementary/arithmetic.ts";

declare const valueBrand: unique symbol;
declare const maskBrand: unique symbol;

/** The values of some neighbouring lanes in one row, SIMD vectors of doubles, NaN for null. */
export interface Value {
  readonly [valueBrand]: true;
}

/** For each lane all bits set or none. */
export interface Mask {
  readonly [maskBrand]: true;
}

/** Emits the code of an elementwise operator. Every method emits at most a few instructions. */
export interface CellBuilder extends Arithmetic<Value, Mask> {
  /** `b < a ? b : a`, so a null in either gives `a`. */
  pmin(a: Value, b: Value): Value;
  /** `a < b ? b : a`, so a null in either gives `a`. */
  pmax(a: Value, b: Value): Value;
  /** The smaller one; null if either is, and -0 is below 0. */
  min(a: Value, b: Value): Value;
  /** The larger one; null if either is, and -0 is below 0. */
  max(a: Value, b: Value): Value;
  isNull(x: Value): Mask;
  /** The number, if the value is known at compile time. */
  constantOf(x: Value): number | null;
  /** 1 where the mask holds, else 0; null where one of the values is null. */
  condition(mask: Mask, ...values: readonly Value[]): Value;
  /** Where a condition is neither 0 nor null. */
  holds(condition: Value): Mask;
  /** The value where the mask holds, else null. */
  keep(mask: Mask, x: Value): Value;
  /** The value where the mask holds, else 0. */
  keepOrZero(mask: Mask, x: Value): Value;
  /** Repeats the step while the mask holds in some lane; the other lanes keep their values. */
  repeat(
    values: readonly Value[],
    holds: (...values: Value[]) => Mask,
    step: (...values: Value[]) => readonly Value[],
  ): readonly Value[];
  /**
   * Emits the function once per module and calls it: for code of more than some dozen operations. A function is
   * recognised by its identity, not by its name, so define it once, outside of `lower`.
   */
  outline(
    name: string,
    emit: (on: CellBuilder, ...values: Value[]) => Value,
    ...values: readonly Value[]
  ): Value;
}

/** A series argument of a rolling operator: today's value, and the rows before it. */
export interface Series {
  readonly now: Value;
}

/**
 * Emits the code of a rolling operator. `rows` is the window, `minPeriods` the least number of values in it, nulls left
 * out; null: the window must be full. Results are the exact values rounded once, null rule included. Where the code
 * cannot decide the last bit of a statistic, the cell gets the value of the operator's reference, and what the lowering
 * makes of the statistic is ignored.
 */
export interface WindowBuilder extends CellBuilder {
  /** The value `rows` rows ago; null before the first row. */
  lag(x: Series, rows: number): Value;
  sum(x: Series, rows: number, minPeriods: number | null): Value;
  mean(x: Series, rows: number, minPeriods: number | null): Value;
  /** Weights 1 (oldest) to `rows` (today), divided by their sum. */
  linearlyWeightedMean(x: Series, rows: number): Value;
  /** Rows of the window in which the series has a value other than 0. */
  countNonZero(x: Series, rows: number, minPeriods: number | null): Value;
  variance(x: Series, rows: number, minPeriods: number | null): Value;
  standardDeviation(x: Series, rows: number, minPeriods: number | null): Value;
  covariance(x: Series, y: Series, rows: number, minPeriods: number | null): Value;
  correlation(x: Series, y: Series, rows: number, minPeriods: number | null): Value;
  largest(x: Series, rows: number, minPeriods: number | null): Value;
  smallest(x: Series, rows: number, minPeriods: number | null): Value;
  /** Counted from 1 for the oldest row of the window that exists; the oldest of ties. */
  positionOfLargest(x: Series, rows: number, minPeriods: number | null): Value;
  positionOfSmallest(x: Series, rows: number, minPeriods: number | null): Value;
  /** Average rank of today's value among those of the window, divided by their number. */
  rankOfToday(x: Series, rows: number, minPeriods: number | null): Value | null;
  /** The `share`-quantile, linear between the two values around position `share * (n - 1)`. */
  quantile(x: Series, rows: number, share: number, minPeriods: number | null): Value | null;
  product(x: Series, rows: number): Value;
  /** Slope per row of the least-squares line. Null, here and below, if there is no code for a window of that length. */
  slope(x: Series, rows: number, minPeriods: number | null): Value | null;
  /** Today's value minus that of the line. */
  residual(x: Series, rows: number, minPeriods: number | null): Value | null;
  /** Share of the variance that the line explains. */
  rSquare(x: Series, rows: number, minPeriods: number | null): Value | null;
}

/**
 * Emits the code of a cross-section or group operator. Each method emits a complete operator for a row, or for each of
 * its groups, and returns whether compiled code exists. Results are the exact values rounded once, null rules included;
 * where the code cannot decide the last bit, it runs the operator's reference. Nulls do not count and stay null.
 */
export interface RowBuilder {
  /** Average ranks of the first argument, divided by the number of values. */
  relativeRanks(): boolean;
  /** The number of values. */
  count(): boolean;
  sum(): boolean;
  mean(): boolean;
  /** Sample standard deviation (ddof 1); null for fewer than 2 values. */
  standardDeviation(): boolean;
  /** The largest value; 0 is above -0. */
  largest(): boolean;
  smallest(): boolean;
  /** Values times the factor over the sum of all magnitudes; null where that is 0. */
  shares(factor: number): boolean;
  /** Places between the smallest value (0) and the largest (1); null where they are equal or one is infinite. */
  rangeShares(): boolean;
  /** Values minus their mean, limited to -limit .. limit unless that is 0. */
  deviations(limit: number): boolean;
  /** Deviations in sample standard deviations; null for fewer than 2 values, where all are equal or one is infinite. */
  standardScores(limit: number): boolean;
}
