/** Dates and times of day of rows. */
import type { TimestampType, TimeType } from "../../panel.ts";
import { type WallTime, wallClock } from "./wall_clock.ts";

const UNITS_PER_MS = { us: 1_000n, ns: 1_000_000n } as const;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/**
 * The wall time of a timestamp: in the given time zone for instants, as written for timestamps without a zone.
 */
export function wallTimeOf(type: TimestampType, timezone: string): (time: bigint) => WallTime {
  const wall = wallClock(type.timezone === null ? "UTC" : timezone);
  // Formatting is slow, and rows of one minute follow each other.
  let lastMinute = Number.NaN;
  let lastTime: WallTime;
  return (time) => {
    const minute = Math.floor(msOf(time, type.unit) / MINUTE_MS);
    if (minute !== lastMinute) [lastMinute, lastTime] = [minute, wall(minute * MINUTE_MS)];
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

function msOf(time: bigint, unit: TimestampType["unit"]): number {
  if (unit === "s") return Number(time) * 1_000;
  if (unit === "ms") return Number(time);
  return Number(floorDivide(time, UNITS_PER_MS[unit]));
}

/** BigInt division rounds towards 0, which is up before 1970. */
function floorDivide(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  return value % divisor < 0n ? quotient - 1n : quotient;
}
