/** When a job is due: a cron pattern in a time zone, restricted by a calendar. Pure. */

import { type WallTime, wallClock } from "../../data/time/dates.ts";
import type { ScheduleConfig, Session } from "../config/config.ts";
import { nextOf } from "../config/cron.ts";

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;
/** A calendar without a due time in five years is taken to have none. */
const HORIZON_MS = 5 * 366 * DAY_MINUTES * MINUTE_MS;

export class Schedule {
  readonly #next: (afterMs: number) => number | null;
  readonly #wall: (ms: number) => WallTime;
  readonly #sessions: readonly Session[];
  readonly #holidays: ReadonlySet<string>;

  constructor({ cron, timezone, calendar }: ScheduleConfig) {
    this.#next = nextOf(cron, timezone);
    this.#wall = wallClock(timezone);
    this.#sessions = calendar.sessions;
    this.#holidays = calendar.holidays;
  }

  /** The first due time after a moment, in ms since 1970; null if the calendar leaves none within five years. */
  next(afterMs: number): number | null {
    let after = afterMs;
    while (after < afterMs + HORIZON_MS) {
      const candidate = this.#next(after);
      if (candidate === null) return null;
      const minutes = this.#minutesToWait(this.#wall(candidate));
      if (minutes === 0) return candidate;
      after = Math.max(candidate, this.#endOfWait(candidate, minutes));
    }
    return null;
  }

  /**
   * One ms before the wait ends, or before the clocks change if they do so earlier: wall time must then be read again.
   * Trying every candidate instead would take minutes for a pattern of seconds and a weekend.
   */
  #endOfWait(candidate: number, minutes: number): number {
    const start = Math.floor(candidate / MINUTE_MS);
    let before = start;
    let end = start + minutes;
    const offset = this.#offsetAt(start);
    if (this.#offsetAt(end) !== offset) {
      while (end - before > 1) {
        const middle = Math.floor((before + end) / 2);
        if (this.#offsetAt(middle) === offset) before = middle;
        else end = middle;
      }
    }
    return end * MINUTE_MS - 1;
  }

  /** Minutes by which wall time is ahead of UTC, at a moment in minutes since 1970. */
  #offsetAt(minute: number): number {
    const { day, minuteOfDay } = this.#wall(minute * MINUTE_MS);
    return Date.parse(day) / MINUTE_MS + minuteOfDay - minute;
  }

  /** The first `countMax` due times after one moment and up to another. */
  between(afterMs: number, untilMs: number, countMax: number): number[] {
    const due: number[] = [];
    let next = this.next(afterMs);
    while (next !== null && next <= untilMs && due.length < countMax) {
      due.push(next);
      next = this.next(next);
    }
    return due;
  }

  /** Minutes of wall time until the calendar may allow a run; 0 if it allows one now. */
  #minutesToWait({ day, minuteOfDay }: WallTime): number {
    const untilMidnight = DAY_MINUTES - minuteOfDay;
    if (this.#holidays.has(day)) return untilMidnight;
    if (this.#sessions.length === 0) return 0;
    const session = this.#sessions.find(({ endMinute }) => minuteOfDay <= endMinute);
    return session ? Math.max(0, session.startMinute - minuteOfDay) : untilMidnight;
  }
}
