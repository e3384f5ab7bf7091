import type { TimeType } from "../../panel.ts";

const MILLISECONDS_PER_DAY = 86_400_000;
const PER_MILLISECOND = { ms: 1n, us: 1_000n, ns: 1_000_000n } as const;

/**
 * The value of a time column for a Date: the instant, or its day in UTC if times are dates; null if the Date is invalid or
 * times are integers.
 *
 * @param wholeSecond how to round to a second if times are seconds
 */
export function valueOfDate(
  date: Date,
  type: TimeType,
  wholeSecond: (seconds: number) => number = Math.floor,
): bigint | null {
  const ms = date.getTime();
  if (Number.isNaN(ms) || type.kind === "integer") return null;
  if (type.kind === "date") return BigInt(Math.floor(ms / MILLISECONDS_PER_DAY));
  return type.unit === "s" ? BigInt(wholeSecond(ms / 1000)) : BigInt(ms) * PER_MILLISECOND[type.unit];
}

export function isTimezone(name: unknown): boolean {
  try {
    return typeof name === "string" && Intl.DateTimeFormat("en", { timeZone: name }) !== null;
  } catch {
    return false;
  }
}
