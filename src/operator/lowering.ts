import type { Arithmetic } from "../elementary/arithmetic.ts";

export declare const valueBrand: unique symbol;
export declare const maskBrand: unique symbol;

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
  readonly null: Value;
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

/** Emits code in steps as well: branches, values that change, products that are added with one rounding. */
export interface StepBuilder extends CellBuilder {
  /** Whether `fusedMultiplyAdd` rounds once on this machine. */
  readonly fusesMultiply: boolean;
  /**
   * `a * b + c` with one or two roundings, depending on the machine: for error-free transformations, and for terms
   * whose rounding changes no result.
   */
  fusedMultiplyAdd(a: Value, b: Value, c: Value): Value;
  /** `c - a * b`, with one or two roundings. */
  fusedMultiplySubtract(a: Value, b: Value, c: Value): Value;
  /** All bits of a lane where the mask holds, else none: -1 and 0 as integers. */
  bitsOf(mask: Mask): Value;
  /** A copy that `assign` may change. */
  copy<T extends Value | Mask>(x: T): T;
  assign<T extends Value | Mask>(target: T, x: T): void;
  /** Runs `emit`; of the values that it made only those that it returns, in whatever object, stay in use. */
  scope<T>(emit: () => T): T;
  /** The code of `emit` runs only if the mask holds in some lane; then it runs for all of them. */
  ifAny(mask: Mask, emit: () => void): void;
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
  /** Values limited to the mean plus and minus `factor` sample standard deviations; null for fewer than 2 values. */
  withinDeviations(factor: number): boolean;
  /** Values limited to the median plus and minus `factor * scale` median distances from it; of whole rows only. */
  withinMedianDistances(factor: number, scale: number): boolean;
}
