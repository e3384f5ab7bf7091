import { certified, exactly, minus, over, rootOf, sumOf, times } from "./bounded.ts";
import { Deviations, deviationIntegers, isConstant } from "./deviations.ts";
import { alignExponents, dotIntegers, roundRatio, roundSignedRoot, sumOfIntegers } from "./dyadic.ts";
import { hasInfinity, infiniteSum } from "./infinity.ts";

/**
 * How far values lie from their mean: each result is the exact real value rounded once to the nearest double.
 * Double-double deviations carry an error bound through every step; where the bound does not determine the last bit,
 * integers do. A window with an infinity has no dispersion: NaN.
 */

const deviations = new Deviations();

/** Mean of the absolute deviations of the values `[n]` from their mean; exactly 0 for equal values. */
export function exactMeanAbsoluteDeviation(values: Float64Array): number {
  if (isConstant(values)) return 0;
  const count = values.length;
  const sum = deviations.load(values).absoluteSum();
  const rounded = certified(over(sum, exactly(count * count)));
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(values)) return Number.NaN;
  const { integers, exponent } = alignExponents(values);
  const exact = deviationIntegers(integers).reduce((total, d) => total + (d < 0n ? -d : d), 0n);
  return roundRatio(exact, BigInt(count) ** 2n, exponent);
}

/** The last of the values `[n]` minus their mean; an infinity follows IEEE, its mean being itself. */
export function exactLastDeviation(values: Float64Array): number {
  if (isConstant(values)) return 0;
  const count = values.length;
  const scaled = times(exactly(values[count - 1] as number), exactly(count));
  const rounded = certified(over(minus(scaled, sumOf(values)), exactly(count)));
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(values)) return (values[count - 1] as number) - infiniteSum(values);
  const { integers, exponent } = alignExponents(values);
  return roundRatio(deviationIntegers(integers).at(-1) as bigint, BigInt(count), exponent);
}

/** The last deviation from the mean over the sample standard deviation (ddof 1); NaN if that is 0 or n < 2. */
export function exactLastZScore(values: Float64Array): number {
  const count = values.length;
  if (count < 2 || isConstant(values)) return Number.NaN;
  const squares = deviations.load(values).powerSum(2);
  const rounded = certified(over(deviations.last(), rootOf(over(squares, exactly(count - 1)))));
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(values)) return Number.NaN;
  const exact = deviationIntegers(alignExponents(values).integers);
  return roundSignedRoot(exact.at(-1) as bigint, BigInt(count - 1), dotIntegers(exact, exact));
}

/** Mean over sample standard deviation (ddof 1) of the values `[n]`; NaN if that is 0 or n < 2. */
export function exactMeanOverDeviation(values: Float64Array): number {
  const count = values.length;
  if (count < 2 || isConstant(values)) return Number.NaN;
  const squares = deviations.load(values).powerSum(2);
  const rounded = certified(over(sumOf(values), rootOf(over(squares, exactly(count - 1)))));
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(values)) return Number.NaN;
  const { integers } = alignExponents(values);
  const exact = deviationIntegers(integers);
  const total = sumOfIntegers(integers);
  return roundSignedRoot(total, BigInt(count - 1), dotIntegers(exact, exact));
}
