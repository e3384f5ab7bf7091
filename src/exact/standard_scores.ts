import { certified, exactly, over, plus, rootOf, sumOf, times } from "./bounded.ts";
import { Deviations, deviationIntegers, isConstant } from "./deviations.ts";
import { alignExponents, decompose, dotIntegers, roundSignedRoot, sumOfIntegers } from "./dyadic.ts";
import { hasInfinity } from "./infinity.ts";
import { roundQuadratic } from "./quadratic.ts";

/**
 * Distances from the mean of a row in sample standard deviations (ddof 1): each result is the exact real value rounded
 * once. Double-double arithmetic suffices for nearly every value, integers give the others. An infinity gives NaN.
 */

const deviations = new Deviations();

/**
 * `output[i] = (values[i] - mean) / std`; NaN for all where std is 0, undefined (n < 2) or infinite. With d = n times
 * the deviation the score is d * sqrt((n - 1) / sum(d^2)).
 */
export function exactStandardScores(values: Float64Array, output: Float64Array): void {
  const count = values.length;
  if (count < 2 || hasInfinity(values) || isConstant(values)) {
    output.fill(Number.NaN);
    return;
  }
  const root = rootOf(over(exactly(count - 1), deviations.load(values).powerSum(2)));
  let exact: { deviations: bigint[]; squares: bigint } | undefined;
  for (let i = 0; i < count; i++) {
    output[i] = certified(times(deviations.at(i), root));
    if (!Number.isNaN(output[i])) continue;
    if (!exact) {
      const integers = deviationIntegers(alignExponents(values).integers);
      exact = { deviations: integers, squares: dotIntegers(integers, integers) };
    }
    output[i] = roundSignedRoot(exact.deviations[i] as bigint, BigInt(count - 1), exact.squares);
  }
}

/** `mean + factor * std` of the values; NaN where std is undefined (n < 2) or infinite. */
export function exactDeviationBound(values: Float64Array, factor: number): number {
  const count = values.length;
  if (count < 2 || hasInfinity(values)) return Number.NaN;
  const squares = deviations.load(values).powerSum(2);
  const std = rootOf(over(squares, exactly(count * count * (count - 1))));
  const mean = over(sumOf(values), exactly(count));
  const rounded = certified(plus(mean, times(std, exactly(factor))));
  return Number.isNaN(rounded) ? integerBound(values, factor) : rounded;
}

/** The same in integers: `(sum + factor * sqrt(sum(d^2) / (n - 1))) / n`, d being n times a deviation. */
function integerBound(values: Float64Array, factor: number): number {
  const { integers, exponent } = alignExponents(values);
  const sum = sumOfIntegers(integers);
  const exact = deviationIntegers(integers);
  const freedom = BigInt(integers.length - 1);
  // Both terms times n - 1, and times 2^shift where the factor has fraction bits.
  const scale = decompose(factor);
  const shift = BigInt(Math.max(0, -scale.exponent));
  const step = scale.integer << (BigInt(scale.exponent) + shift);
  return roundQuadratic(
    (sum << shift) * freedom,
    step < 0n ? -1n : 1n,
    step * step * dotIntegers(exact, exact) * freedom,
    BigInt(integers.length) * freedom,
    exponent - Number(shift),
  );
}
