import type { OpenDatabase } from "../data/duckdb/database.ts";
import { noRowsInRange, timeUnusable } from "../data/errors.ts";
import type { RowRange } from "../data/panel/panel_source.ts";
import { valueOfDate } from "../data/time/dates.ts";
import { describeTimeType, formatTime, parseTimeText } from "../data/time/time_text.ts";
import type { UsageError } from "../errors.ts";
import type { TimeColumn, TimeType } from "../panel.ts";
import { kindOf } from "../text/argument_kinds.ts";

/** As of `EvaluateOptions`. */
interface TimesWanted {
  readonly from?: string | Date;
  readonly to?: string | Date;
}

/** The rows with times from `from` to `to`, both inclusive; none where no row is left. @throws UsageError E541. */
export async function rowRange(time: TimeColumn, options: TimesWanted): Promise<RowRange> {
  const range = await rowsWithin(time, options);
  return range.first < range.end ? range : { first: 0, end: 0 };
}

/** The same; where no row is left, the range stands where its times would. @throws UsageError E541 for a time that does not fit. */
export async function rowsWithin({ values, type }: TimeColumn, { from, to }: TimesWanted): Promise<RowRange> {
  const first = from === undefined ? 0 : countBefore(values, await timeOf(from, type, "from"));
  const end = to === undefined ? values.length : countBefore(values, (await timeOf(to, type, "to")) + 1n);
  return { first, end };
}

/** For what compares rows: none would agree with everything. @throws DataError E344 for no row of several. */
export function expectRows({ values, type }: TimeColumn, { first, end }: RowRange): void {
  if (first < end || values.length === 0) return;
  throw noRowsInRange(formatTime(values[0]!, type), formatTime(values.at(-1)!, type));
}

/** A time as a value of the time column. @param name what it is called in messages @throws UsageError E541. */
export async function timeOf(
  time: string | Date,
  type: TimeType,
  edge: "from" | "to",
  name: string = edge,
  open?: OpenDatabase,
): Promise<bigint> {
  if (typeof time === "string") return await parseTimeText(time, type, edge, open);
  // Inclusive: the first whole second not before it, the last one not after it.
  const wholeSecond = edge === "from" ? Math.ceil : Math.floor;
  const value = time instanceof Date ? valueOfDate(time, type, wholeSecond) : null;
  if (value === null) throw timeInvalid(name, time, type);
  return value;
}

function timeInvalid(name: string, time: unknown, type: TimeType): UsageError {
  const isPlain = typeof time === "number" || typeof time === "boolean" || typeof time === "bigint";
  const found = isPlain ? `${time}, ${kindOf(time)}` : kindOf(time);
  const isDated = type.kind !== "integer";
  return timeUnusable(
    `${name} is ${found}; the times of the data are each ${describeTimeType(type)}`,
    isDated
      ? 'give a text like the times in the data, e.g. "2017-01-31", or a Date'
      : 'give a text, e.g. "42"',
  );
}

/** Number of the ascending times before this one (binary search). */
export function countBefore(times: BigInt64Array, time: bigint): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] as bigint) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
