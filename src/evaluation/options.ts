import type { ParamOptions } from "../call_params.ts";
import { isTimezone } from "../data/time/dates.ts";
import { UsageError } from "../errors.ts";
import { BLOCK_ROWS_MAX, THREADS_MAX } from "../limits.ts";
import {
  type ArgumentKind,
  decidedByData,
  FLAG,
  FUNCTION,
  isRecord,
  LIST,
  oneOf,
  PATH,
  RECORD,
  SIGNAL,
  shownValue,
  TEXTS,
  wholeNumber,
} from "../text/argument_kinds.ts";
import { type OptionKinds, optionsOf } from "../text/option_kinds.ts";

/** The trading sessions of a day, in the order of the day. */
export interface Sessions {
  /** Start and end of each session, e.g. `[["09:30", "16:00"]]`. */
  readonly sessions: readonly (readonly [start: string, end: string])[];
  /** The zone of these times, an IANA name; times without a zone are taken as written. Default `"UTC"`. */
  readonly timezone?: string;
}

/** Times, or the starts of sessions. */
export type Restarts = readonly (string | Date)[] | Sessions;

/** How operators run: kernels compiled from their lowering, or their scalar references. The bits are the same. */
export type KernelChoice = "compiled" | "reference";

export interface EvaluateOptions extends ParamOptions {
  /** Computes only these factors. */
  readonly select?: readonly string[];
  /**
   * First time of the output, inclusive, e.g. `"2017-01-01"`; earlier history still counts. A Date is an instant; where
   * times are dates, it is its day in UTC.
   */
  readonly from?: string | Date;
  /** Last time of the output, inclusive. A text without time of day includes that whole day. */
  readonly to?: string | Date;
  /**
   * At the first row from each of these times on, windows and recurrences begin as if no row had come before: times as
   * `from`, or the starts of sessions, e.g. `{ sessions: [["09:30", "16:00"]], timezone: "America/New_York" }`.
   */
  readonly restarts?: Restarts;
  /** Keeps infinities in the output instead of turning them into nulls. */
  readonly keepInfinite?: boolean;
  /** Ends the call when aborted; the engine stays usable. */
  readonly signal?: AbortSignal;
  /** Called after each block of rows. */
  readonly onProgress?: (rowsDone: number, rowCount: number) => void;
  /** Rows of a block; never changes a bit. Default: what suits the memory. */
  readonly blockRows?: number;
  /**
   * Calls of higher priority go first, whole numbers from -1000 to 1000; of equal ones the earlier call. Default 0; that
   * of sessions is 1.
   */
  readonly priority?: number;
  /** `"reference"` runs the scalar definition of every operator: slow, for checking the compiled kernels. */
  readonly kernel?: KernelChoice;
}

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

/** Priorities of calls lie between this and its negative. */
const PRIORITY_MAX = 1000;

const PRIORITY = wholeNumber(
  -PRIORITY_MAX,
  PRIORITY_MAX,
  (_, given) =>
    new UsageError(
      "E528",
      `the priority is ${shownValue(given)}`,
      `give a whole number from -${PRIORITY_MAX} to ${PRIORITY_MAX}`,
    ),
);

const KERNEL = oneOf<KernelChoice>(
  ["compiled", "reference"],
  (_, given) => new UsageError("E506", `unknown kernel ${shownValue(given)}`, "kernels: compiled, reference"),
);

export const THREADS = wholeNumber(
  1,
  THREADS_MAX,
  (_, given) =>
    new UsageError(
      "E528",
      `threads must be a whole number from 1 to ${THREADS_MAX}, got ${shownValue(given)}`,
      "try threads: 2",
    ),
);

const TIME = decidedByData("a text or a Date", "give a time like those of the data");

/** The kinds of all options of a call; `OPTION_TABLE` says which doors take which. */
export const EVALUATE_OPTIONS = {
  params: RECORD,
  paramsByTime: PATH,
  select: TEXTS,
  from: TIME,
  to: TIME,
  restarts: RESTARTS,
  keepInfinite: FLAG,
  signal: SIGNAL,
  onProgress: FUNCTION,
  blockRows: wholeNumber(
    1,
    BLOCK_ROWS_MAX,
    (_, given) =>
      new UsageError(
        "E528",
        `blocks of ${shownValue(given)} rows`,
        `give a whole number from 1 to ${BLOCK_ROWS_MAX}`,
      ),
  ),
  priority: PRIORITY,
  kernel: KERNEL,
} satisfies OptionKinds<EvaluateOptions>;

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
