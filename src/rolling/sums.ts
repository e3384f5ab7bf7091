import type { Value } from "../operator/lowering.ts";
import type { Series, WindowBuilder } from "../operator/window_code.ts";
import { roundedQuotient, twoSum } from "./double_double.ts";
import { countOf, hasEnough } from "./enough.ts";
import { isBounded } from "./every_row.ts";
import type { Parts } from "./split_sums.ts";
import { type LinearSums, linear } from "./state/linear.ts";
import type { WindowStatistic } from "./statistic.ts";

export const sum: WindowStatistic = (on, x, rows, minPeriods = null) => {
  const sums = on.state(linear, { series: x, windowRows: rows, wantsRamp: false });
  return rounded(on, x, rows, minPeriods, sums, sums.sum, on.number(1), rows);
};

export const mean: WindowStatistic = (on, x, rows, minPeriods = null) => {
  const sums = on.state(linear, { series: x, windowRows: rows, wantsRamp: false });
  const count = minPeriods === null ? on.number(rows) : countOf(on, x, rows);
  return rounded(on, x, rows, minPeriods, sums, sums.sum, count, rows);
};

/** Mean with the weights 1 (oldest) to `rows` (today). */
export function linearlyWeightedMean(on: WindowBuilder, x: Series, rows: number): Value {
  const sums = on.state(linear, { series: x, windowRows: rows, wantsRamp: true });
  const weights = (rows * (rows + 1)) / 2;
  return rounded(on, x, rows, null, sums, sums.ramp!, on.number(weights), weights);
}

/**
 * An exact sum in two parts, divided by a whole number and rounded once.
 *
 * @param weights sum of the magnitudes of the values' weights
 */
function rounded(
  on: WindowBuilder,
  x: Series,
  rows: number,
  minPeriods: number | null,
  { truncated, state }: LinearSums,
  parts: Parts,
  divisor: Value,
  weights: number,
): Value {
  const isEnough = hasEnough(on, x, rows, minPeriods);
  const isWhole = on.constantOf(divisor) === 1;
  const roundedWith = (low: Value) =>
    isWhole ? on.add(parts[0], low) : roundedQuotient(on, twoSum(on, parts[0], low), divisor);
  const value = on.scope(() => roundedWith(parts[1]));
  if (truncated === null) return on.keep(isEnough, value);
  on.ifAny(truncated.mask, () =>
    on.scope(() => {
      // Dropped bits do not matter where the largest and the least possible sum round alike.
      const dropped = on.mul(truncated.dropped, on.number(weights));
      const least = roundedWith(on.sub(parts[1], dropped));
      const most = roundedWith(on.add(parts[1], dropped));
      const isKnown = on.and(on.eq(least, most), isBounded(on, x, rows));
      on.leaveOpen(on.and(isEnough, on.andNot(truncated.mask, isKnown)), state);
    }),
  );
  return on.keep(isEnough, value);
}
