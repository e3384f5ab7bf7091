import { hasInfinity, infiniteSum, isConstant } from "../exact/special_values.ts";
import type { WindowRows } from "./definition.ts";

/** Predicates of `nullWhere` that operators share; of windows, rows and groups alike. */

type Columns = readonly Float64Array[];

/** An infinity in any column: statistics around a mean have no value then. */
export const hasAnyInfinity = (columns: Columns): boolean => columns.some(hasInfinity);

/** Infinities of both signs: their sum has no value. */
export const hasBothInfinities = ([x]: Columns): boolean => Number.isNaN(infiniteSum(x));

/** Fewer values than a statistic needs. */
export const isFewerThan =
  (least: number) =>
  ([x]: Columns): boolean =>
    x.length < least;

/** Equal values in the first column. */
export const isFirstConstant = ([x]: Columns): boolean => isConstant(x);

/** Equal values in the second column. */
export const isSecondConstant = ([, x]: Columns): boolean => isConstant(x);

/** Zero in the whole column by whose sum, or sum of squares, the operator divides. */
export const isZero = (x: Float64Array): boolean => x.every((value) => value === 0);

/** A null today, which `min_periods` has left out of the window. */
export const lacksToday = (_windows: Columns, _settings: unknown, { positions, last }: WindowRows): boolean =>
  positions.at(-1) !== last;
