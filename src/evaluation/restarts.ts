/** The rows of a panel at which windows and recurrences begin as if no row had come before. */
import { ReusedDatabases } from "../data/duckdb/database.ts";
import { timeUnusable } from "../data/errors.ts";
import { wallTimeOf } from "../data/time/row_dates.ts";
import { describeTimeType } from "../data/time/time_text.ts";
import type { TimeColumn, TimeType } from "../panel.ts";
import { minutesOf, type Restarts } from "./restart_options.ts";
import { countBefore, timeOf } from "./row_range.ts";

/** Finds the rows at which stretches begin, in times that come in order. */
export class RestartFinder {
  /** Number of the stretch of the last row seen; null before any. */
  last: number | null = null;
  /** Ascends from one stretch to the next. */
  readonly #stretchOf: (time: bigint) => number;

  /**
   * A stretch begins with the first row that is not before a time of a list. A row belongs to the session that started last
   * on its day; rows before the first session of a day are a stretch of their own. A session starts once, also if clocks go
   * back over its start.
   *
   * @throws UsageError E527, E528 for wrong sessions, E541 for a time that does not fit, and for sessions where
   *   rows have no time of day.
   */
  static async of(restarts: Restarts, type: TimeType): Promise<RestartFinder> {
    if (isList(restarts)) {
      const times = await timesOf(restarts, type);
      return new RestartFinder((time) => countBefore(times, time + 1n));
    }
    const { sessions, timezone = "UTC" } = restarts;
    if (type.kind !== "timestamp")
      throw timeUnusable(
        `restarts at sessions need times of day; the times of the data are each ${describeTimeType(type)}`,
        "give the restarts as a list of times",
      );
    const starts = sessions.map((session) => minutesOf(session)![0]!);
    const wall = wallTimeOf(type, timezone);
    return new RestartFinder((time) => {
      const { day, minuteOfDay } = wall(time);
      const started = starts.filter((start) => start <= minuteOfDay).length;
      return Date.parse(day) + started;
    });
  }

  private constructor(stretchOf: (time: bigint) => number) {
    this.#stretchOf = stretchOf;
  }

  /** The first row of each stretch, ascending; the first row of all is one. */
  rowsOf(times: BigInt64Array): number[] {
    const rows: number[] = [];
    times.forEach((time, row) => {
      const stretch = this.#stretchOf(time);
      if (this.last !== null && stretch <= this.last) return;
      rows.push(row);
      this.last = stretch;
    });
    return rows;
  }
}

/** The rows before `end`, but the first, at which a stretch begins, ascending. @throws as `RestartFinder.of`. */
export async function restartRowsOf(
  { values, type }: TimeColumn,
  end: number,
  { restarts }: { readonly restarts?: Restarts },
): Promise<number[]> {
  if (restarts === undefined) return [];
  return (await RestartFinder.of(restarts, type)).rowsOf(values.subarray(0, end)).slice(1);
}

function isList(restarts: Restarts): restarts is readonly (string | Date)[] {
  return Array.isArray(restarts);
}

/** Ascending. */
async function timesOf(texts: readonly (string | Date)[], type: TimeType): Promise<BigInt64Array> {
  using databases = new ReusedDatabases();
  const times: bigint[] = [];
  for (const text of texts) times.push(await timeOf(text, type, "from", "a restart", databases.open));
  return BigInt64Array.from(times).sort();
}
