/** Where sessions start among rows: there windows of `cross_session: false` start anew. */
import type { TimeType } from "../panel.ts";
import type { Session } from "./config.ts";
import { wallTimeOf } from "./row_dates.ts";

export class SessionStarts {
  /** The session of the last row that was asked for; part of the state of a job. */
  last: string | null = null;
  readonly #sessionOf: (time: bigint) => string;

  /** A row belongs to the session that started last on its day; rows before the first one form one of their own. */
  constructor(
    sessions: readonly Session[],
    timezone: string,
    type: Extract<TimeType, { kind: "timestamp" }>,
  ) {
    const wall = wallTimeOf(type, timezone);
    this.#sessionOf = (time) => {
      const { day, minuteOfDay } = wall(time);
      return `${day} ${sessions.findLastIndex(({ startMinute }) => startMinute <= minuteOfDay)}`;
    };
  }

  /** The rows with which a session starts, ascending. */
  rowsOf(times: BigInt64Array): number[] {
    const starts: number[] = [];
    times.forEach((time, row) => {
      const session = this.#sessionOf(time);
      if (session !== this.last) starts.push(row);
      this.last = session;
    });
    return starts;
  }
}
