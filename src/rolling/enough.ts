import type { Mask, Value } from "../operator/lowering.ts";
import type { Series, WindowBuilder } from "../operator/window_code.ts";
import { count } from "./state/count.ts";
import { holdsInWindow } from "./state/run_length.ts";
import type { WindowStatistic } from "./statistic.ts";

/** Number of values among the last rows. */
export const countOf = (on: WindowBuilder, series: Series, windowRows: number): Value =>
  on.state(count, { series, windowRows, counts: "values" });

/** True where the window holds enough values; `minPeriods` null: where it is full. */
export function hasEnough(
  on: WindowBuilder,
  x: Series,
  rows: number,
  minPeriods: number | null = null,
): Mask {
  return minPeriods === null
    ? holdsInWindow(on, "valid", [x], rows)
    : on.ge(countOf(on, x, rows), on.number(minPeriods));
}

/** Rows of the window in which a series, e.g. a condition, has a value other than 0. */
export const countNonZero: WindowStatistic = (on, x, rows, minPeriods = null) => {
  const found = on.state(count, { series: x, windowRows: rows, counts: "non-zero" });
  return on.keep(hasEnough(on, x, rows, minPeriods), found);
};
