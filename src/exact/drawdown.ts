import { certifiedNumber } from "./certified.ts";
import { hasInfinity } from "./special_values.ts";

/**
 * The largest drop below the running peak, over that peak, among the values `[n]` in their order; NaN if the first
 * value is not above 0 or a value is infinite. Below one peak the lowest value drops most, and rounding keeps order.
 */
export function exactDrawdown(values: Float64Array): number {
  let peak = values[0] as number;
  if (!(peak > 0) || hasInfinity(values)) return Number.NaN;
  let lowest = peak;
  let largest = 0;
  for (let i = 1; i < values.length; i++) {
    const value = values[i] as number;
    if (value > peak) {
      largest = largerDrop(largest, peak, lowest);
      peak = value;
      lowest = value;
    } else if (value < lowest) lowest = value;
  }
  return largerDrop(largest, peak, lowest);
}

/** The larger of `drop` and `(peak - value) / peak`. The latter is 0 or above 2^-54, so in doubles off by 2^-51 of it. */
function largerDrop(drop: number, peak: number, value: number): number {
  if ((peak - value) / peak <= drop * (1 - 2 ** -50)) return drop;
  return Math.max(
    drop,
    certifiedNumber((exactly) => exactly(peak, -value).over(peak)),
  );
}
