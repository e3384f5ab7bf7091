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
      largest = Math.max(largest, relativeDrop(peak, lowest));
      peak = value;
      lowest = value;
    } else if (value < lowest) lowest = value;
  }
  return Math.max(largest, relativeDrop(peak, lowest));
}

/** `(peak - value) / peak`. */
function relativeDrop(peak: number, value: number): number {
  if (value === peak) return 0;
  return certifiedNumber((exactly) => exactly(peak).minus(value).over(peak));
}
