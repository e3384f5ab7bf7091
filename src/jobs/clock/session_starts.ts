/** Finds the rows at which sessions start: windows restart there under `cross_session: false`. */
import type { TimestampType } from "../../panel.ts";
import type { Session } from "../config/config.ts";
import { wallTimeOf } from "./row_dates.ts";

export class SessionStarts {
  /** Day and session of the last row seen; part of the state of a job. */
  last: string | null = null;
  readonly #sessionOf: (time: bigint) => string;

  /**
   * A row belongs to the session that started last on its day; rows before the first session form one of their own. A
   * session starts once, also if clocks go back over its start.
   */
  constructor(sessions: readonly Session[], timezone: string, type: TimestampType) {
    const wall = wallTimeOf(type, timezone);
    this.#sessionOf = (time) => {
      const { day, minuteOfDay } = wall(time);
      return `${day} ${sessions.findLastIndex(({ startMinute }) => startMinute <= minuteOfDay)}`;
    };
  }

  /** The first row of each session, ascending. */
  rowsOf(times: BigInt64Array): number[] {
    const starts: number[] = [];
    times.forEach((time, row) => {
      const session = this.#sessionOf(time);
      if (this.last !== null && !isLater(session, this.last)) return;
      starts.push(row);
      this.last = session;
    });
    return starts;
  }
}

function isLater(session: string, last: string): boolean {
  if (session === last) return false;
  const [day, index] = session.split(" ") as [string, string];
  const [lastDay, lastIndex] = last.split(" ") as [string, string];
  return day === lastDay ? Number(index) > Number(lastIndex) : day > lastDay;
}
