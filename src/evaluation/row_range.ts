import { noRowsInRange } from "../data/errors.ts";
import { formatTime, parseTimeText } from "../data/time_text.ts";
import type { TimeColumn } from "../panel.ts";
import type { EvaluateOptions } from "./options.ts";

/** Rows `first` to `end`, the latter not included. */
export interface RowRange {
  readonly first: number;
  readonly end: number;
}

/**
 * The rows with times from `from` to `to`, both inclusive.
 *
 * @throws UsageError E541 for a text that is no time of the column's type; DataError E342 if no row is left.
 */
export async function rowRange(
  { values, type }: TimeColumn,
  { from, to }: EvaluateOptions,
): Promise<RowRange> {
  const first = from === undefined ? 0 : countBefore(values, await parseTimeText(from, type, "from"));
  const end =
    to === undefined ? values.length : countBefore(values, (await parseTimeText(to, type, "to")) + 1n);
  if (first < end || values.length === 0) return { first, end };
  throw noRowsInRange(formatTime(values[0] as bigint, type), formatTime(values.at(-1) as bigint, type));
}

/** How many of the ascending times are before the given one (binary search). */
function countBefore(times: BigInt64Array, time: bigint): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] as bigint) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
