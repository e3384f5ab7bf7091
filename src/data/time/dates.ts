/** Dates of JavaScript, and dates and times of day of rows. */
import { type TimestampType, type TimeType, UNITS_PER_SECOND } from "../../panel.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Local date and time of day in a time zone. */
export interface WallTime {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly minuteOfDay: number;
}

export function isTimezone(name: unknown): boolean {
  try {
    return typeof name === "string" && Intl.DateTimeFormat("en", { timeZone: name }) !== null;
  } catch {
    return false;
  }
}

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
  if (type.kind === "date") return BigInt(Math.floor(ms / DAY_MS));
  if (type.unit === "s") return BigInt(wholeSecond(ms / 1000));
  return (BigInt(ms) * UNITS_PER_SECOND[type.unit]) / 1000n;
}

/** Converts ms since 1970 to the local time of a time zone. */
export function wallClock(timezone: string): (ms: number) => WallTime {
  const format = new Intl.DateTimeFormat("en-CA", {
    timeZone: timezone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  });
  return (ms) => {
    const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
    return {
      day: `${parts["year"]}-${parts["month"]}-${parts["day"]}`,
      minuteOfDay: Number(parts["hour"]) * 60 + Number(parts["minute"]),
    };
  };
}

/**
 * The wall time of a timestamp: in the given time zone for instants, as written for timestamps without a zone.
 */
export function wallTimeOf(type: TimestampType, timezone: string): (time: bigint) => WallTime {
  const wall = wallClock(type.timezone === null ? "UTC" : timezone);
  const perMinute = 60n * UNITS_PER_SECOND[type.unit];
  // Formatting is slow, and rows of one minute follow each other.
  let lastMinute: bigint | undefined;
  let lastTime: WallTime;
  return (time) => {
    // BigInt division rounds towards 0, which is up before 1970.
    const minute = time / perMinute - (time % perMinute < 0n ? 1n : 0n);
    if (minute !== lastMinute) [lastMinute, lastTime] = [minute, wall(Number(minute) * MINUTE_MS)];
    return lastTime;
  };
}

/** The date of a row, `YYYY-MM-DD`; null for types of times without one. */
export function dateOf(type: TimeType, timezone: string): ((time: bigint) => string) | null {
  if (type.kind === "integer") return null;
  if (type.kind === "date") return (time) => new Date(Number(time) * DAY_MS).toISOString().slice(0, 10);
  const wall = wallTimeOf(type, timezone);
  return (time) => wall(time).day;
}
