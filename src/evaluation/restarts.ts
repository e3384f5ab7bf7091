/** The rows of a panel at which windows and recurrences begin as if no row had come before. */
import { ReusedDatabases } from "../data/duckdb/database.ts";
import { timeUnusable } from "../data/errors.ts";
import { wallTimeOf } from "../data/time/dates.ts";
import { describeTimeType } from "../data/time/time_text.ts";
import type { TimeColumn, TimeType } from "../panel.ts";
import { minutesOf, type Restarts, type Sessions } from "./options.ts";
import { countBefore, timeOf } from "./row_range.ts";

/** The number of the stretch of a time: the rows between two restarts. It ascends from one stretch to the next. */
export type StretchOf = (time: bigint) => number;

/**
 * A stretch begins with the first row that is not before a time of a list. A row belongs to the session that started last
 * on its day; rows before the first session of a day are a stretch of their own. A session starts once, also if clocks go
 * back over its start.
 *
 * @returns null for no restarts
 * @throws UsageError E541 for a time that does not fit, and for sessions where rows have no time of day.
 */
export async function stretchesOf(restarts: Restarts | undefined, type: TimeType): Promise<StretchOf | null> {
  if (restarts === undefined) return null;
  return isList(restarts) ? await stretchesOfTimes(restarts, type) : sessionOf(restarts, type);
}

/** Finds the rows at which history begins again. */
export class RestartFinder {
  /** Rows of the time column, but the first, at which a stretch begins, ascending. */
  readonly rows: readonly number[];
  /** Number of the stretch of the last row seen; null before any. */
  last: number | null = null;
  readonly #times: BigInt64Array;
  readonly #stretchOf: StretchOf;

  /**
   * @param end rows of the time column that count
   * @returns null for none
   * @throws UsageError as `stretchesOf`.
   */
  static async of(
    { type, values }: TimeColumn,
    end: number,
    { restarts }: { readonly restarts?: Restarts },
  ): Promise<RestartFinder | null> {
    const stretchOf = await stretchesOf(restarts, type);
    return stretchOf && new RestartFinder(stretchOf, values.subarray(0, end));
  }

  private constructor(stretchOf: StretchOf, times: BigInt64Array) {
    this.#stretchOf = stretchOf;
    this.#times = times;
    this.rows = this.starts(times).slice(1);
    this.last = null;
  }

  /** The rows among those that follow at which a stretch begins, ascending. */
  starts(times: BigInt64Array): number[] {
    const rows: number[] = [];
    times.forEach((time, row) => {
      const stretch = this.#stretchOf(time);
      if (this.last !== null && stretch <= this.last) return;
      rows.push(row);
      this.last = stretch;
    });
    return rows;
  }

  /** The next row is this one of the time column: no restart, since none comes before it. */
  beginAt(row: number): void {
    this.last = null;
    const start = this.rows.findLast((restart) => restart <= row) ?? 0;
    this.starts(this.#times.subarray(start, start + 1));
  }
}

function isList(restarts: Restarts): restarts is readonly (string | Date)[] {
  return Array.isArray(restarts);
}

async function stretchesOfTimes(texts: readonly (string | Date)[], type: TimeType): Promise<StretchOf> {
  using databases = new ReusedDatabases();
  const found: bigint[] = [];
  for (const text of texts) found.push(await timeOf(text, type, "from", "a restart", databases.open));
  const times = BigInt64Array.from(found).sort();
  return (time) => countBefore(times, time + 1n);
}

function sessionOf(given: Sessions, type: TimeType): StretchOf {
  const { sessions, timezone = "UTC" } = given;
  if (type.kind !== "timestamp")
    throw timeUnusable(
      `restarts at sessions need times of day; the times of the data are each ${describeTimeType(type)}`,
      "give the restarts as a list of times",
    );
  const starts = sessions.map((session) => minutesOf(session)![0]!);
  const wall = wallTimeOf(type, timezone);
  return (time) => {
    const { day, minuteOfDay } = wall(time);
    return Date.parse(day) + starts.filter((start) => start <= minuteOfDay).length;
  };
}
