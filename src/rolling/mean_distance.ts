import type { StepBuilder, Value } from "../operator/lowering.ts";
import type { WindowBuilder } from "../operator/window_code.ts";
import {
  type BoundedPair,
  PAIR_ERROR,
  type Pair,
  twoDifference,
  twoProduct,
  twoSum,
} from "./double_double.ts";
import { secondStep } from "./split_sums.ts";
import type { Moments } from "./state/quadratic.ts";

/**
 * n times the distance of a number from the mean of a column: n times its difference from the pivot, less the sum of the
 * column's deviations; null where the number is.
 *
 * With step2 = bound * 2^(2h-107), h head bits, each of the at most d terms of the sum is off by step2 / 2. The product
 * is exact, as is the difference of the first parts. The second parts of the sum are below d * bound * 2^(h-54), those of
 * the rest below 2^-53 of |n * difference| and of d * bound; both are added with a rounding each, which makes less than
 * d * step2 / 2 and 2^-104 of |n * difference|.
 */
export function scaledDeviation(on: WindowBuilder, of: Moments, i: number, x: Value): BoundedPair {
  const pivot = of.pivots[i]!;
  const difference = pivot === null ? x : on.sub(x, pivot);
  const scaled = twoProduct(on, difference, of.count);
  const distance = lessSum(on, scaled, of.sums[i]!);
  const step = on.mul(of.bounds[i]!, on.number(2 * of.windowRows * secondStep(of.headBits)));
  const error = on.fusedMultiplyAdd(on.abs(scaled.high), on.number(PAIR_ERROR), step);
  return { ...distance, error };
}

/** n times a difference from the pivot, given as a product, less the sum of all of them. */
export function lessSum(
  on: StepBuilder,
  { high, excess }: { readonly high: Value; readonly excess: Value },
  [first, second]: readonly [Value, Value],
): Pair {
  const main = twoDifference(on, high, first);
  return twoSum(on, main.high, on.sub(on.sub(main.low, excess), second));
}
