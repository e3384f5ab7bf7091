/** What callers may say of restarts; light, so that command lines know it before they load anything. */
import { isTimezone } from "../data/time/date_value.ts";
import { type ArgumentKind, isRecord, LIST } from "../text/argument_kinds.ts";
import { optionsOf } from "../text/option_kinds.ts";

/** The trading sessions of a day, in the order of the day. */
export interface Sessions {
  /** Start and end of each session, e.g. `[["09:30", "16:00"]]`. */
  readonly sessions: readonly (readonly [start: string, end: string])[];
  /** The zone of these times, an IANA name; times without a zone are taken as written. Default `"UTC"`. */
  readonly timezone?: string;
}

/** Times, or the starts of sessions. */
export type Restarts = readonly (string | Date)[] | Sessions;

const SESSIONS: ArgumentKind = {
  what: "pairs of times of the day in order",
  fits: (given) => LIST.fits(given) && isOrdered([...(given as Iterable<unknown>)].map(minutesOf)),
  remedy: 'write [["09:30", "16:00"]]',
  isRequired: true,
};

const TIMEZONE: ArgumentKind = {
  what: "a time zone",
  fits: isTimezone,
  remedy: "give an IANA name, e.g. America/New_York",
};

const BY_SESSIONS = optionsOf<Sessions>("restarts", { sessions: SESSIONS, timezone: TIMEZONE });

export const RESTARTS: ArgumentKind = {
  what: "a list of times or { sessions, timezone }",
  fits: (given) => Array.isArray(given) || (isRecord(given) && BY_SESSIONS.fits(given)),
  remedy: 'write ["2024-01-02", ...] or { sessions: [["09:30", "16:00"]], timezone: "America/New_York" }',
};

const TIME_OF_DAY = /^([01]\d|2[0-3]):([0-5]\d)$/;

/** Minutes of the day of both ends of a session; null for anything else. */
export function minutesOf(session: unknown): readonly number[] | null {
  if (!Array.isArray(session) || session.length !== 2) return null;
  const minutes = session.map((text) => {
    const match = TIME_OF_DAY.exec(String(text));
    return match ? Number(match[1]) * 60 + Number(match[2]) : Number.NaN;
  });
  return minutes.some(Number.isNaN) ? null : minutes;
}

/** Whether there is a session, and each ends after it starts, before the next one. */
function isOrdered(sessions: readonly (readonly number[] | null)[]): boolean {
  const minutes = sessions.flatMap((session) => session ?? [Number.NaN]);
  return (
    minutes.length > 0 && minutes.every((minute, i) => (i === 0 ? minute >= 0 : minute > minutes[i - 1]!))
  );
}
