import type { Value } from "../operator/lowering.ts";
import type { Series, WindowBuilder } from "../operator/window_code.ts";

/**
 * Emits a statistic of a window, exact and rounded once. `minPeriods` is the least number of values in the window, nulls
 * left out; null, its default: the window must be full.
 */
export type WindowStatistic = (
  on: WindowBuilder,
  x: Series,
  rows: number,
  minPeriods?: number | null,
) => Value;

/** The same, or null if there is no code for a window of that length. */
export type BoundedStatistic = (...of: Parameters<WindowStatistic>) => Value | null;

/** The same of two series. */
export type PairStatistic = (
  on: WindowBuilder,
  x: Series,
  y: Series,
  rows: number,
  minPeriods?: number | null,
) => Value;
