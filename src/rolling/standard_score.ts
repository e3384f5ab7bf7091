import type { WindowBuilder } from "../operator/window_code.ts";
import { crossMoment, ofMoments, ratio } from "./dispersion.ts";
import { type BoundedPair, negated, timesNumber } from "./double_double.ts";
import { scaledDeviation } from "./mean_distance.ts";
import type { Moments } from "./state/quadratic.ts";
import type { WindowStatistic } from "./statistic.ts";

/** Today's value minus the mean, in sample standard deviations (ddof 1); null where the series is constant. */
export const standardScore: WindowStatistic = (on, x, rows, minPeriods = null) =>
  ofMoments(on, [x], rows, minPeriods, {
    emit: (on, of) => inDeviations(on, of, scaledDeviation(on, of, 0, x.now)),
    ofConstant: on.null,
    isAsked: on.eq(x.now, x.now),
  });

/** The mean in sample standard deviations (ddof 1); null where the series is constant. */
export const meanOverDeviation: WindowStatistic = (on, x, rows, minPeriods = null) =>
  ofMoments(on, [x], rows, minPeriods, {
    emit: (on, of) => negated(on, inDeviations(on, of, scaledDeviation(on, of, 0, on.number(0)))),
    ofConstant: on.null,
  });

/**
 * A distance, n times as it is, over the standard deviation. With the cross moment C = n * (n - 1) * variance it is
 * `(n - 1) * scaled / sqrt(C * n * (n - 1))`. The factor under the root is a whole number below 2^53; what the product
 * with n - 1 rounds, 2^-104 of it, is far below what `ratio` adds for its own roundings. The error of `scaled` is above
 * 2^-500, as bounds are above 2^-401, so a certain result is far from the ends of the range.
 */
function inDeviations(on: WindowBuilder, of: Moments, scaled: BoundedPair): BoundedPair {
  const freedom = on.sub(of.count, on.number(1));
  const zero = on.number(0);
  const factor = { high: on.mul(of.count, freedom), low: zero, error: zero };
  const distance = { ...timesNumber(on, scaled, freedom), error: on.mul(scaled.error, freedom) };
  return ratio(on, crossMoment(on, of, 0, 0), factor, distance);
}
