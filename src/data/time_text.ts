/** Times as text: `--from` and `--to` in, messages out. */
import type { TimeType } from "../panel.ts";
import { type Database, openDatabase, queryRows, sqlText } from "./database.ts";
import { timeArgumentInvalid } from "./errors.ts";
import { epochSql, isDateShaped, isZoned, textTimeSql } from "./time_sql.ts";

const UNITS_PER_SECOND = { s: 1n, ms: 1_000n, us: 1_000_000n, ns: 1_000_000_000n } as const;
const SECOND_DIGITS = { s: 0, ms: 3, us: 6, ns: 9 } as const;
const SECONDS_PER_DAY = 86_400n;
/** JavaScript dates end 100,000,000 days from 1970. */
const DATE_SECONDS_MAX = 8_640_000_000_000n;

type TimestampType = Extract<TimeType, { kind: "timestamp" }>;

/**
 * The time that `text` names, as a value of a time column of the given type (see `TimeColumn.values`).
 * In a column of timestamps a date without time of day is midnight, in the column's time zone; with edge `to` it is
 * the last instant of that day, so that `--to 2014-12-31` includes the day.
 *
 * @throws UsageError E541 when the text is not a time of that type.
 * @example await parseTimeText("2014-01-02", { kind: "date" }) // 16072n
 */
export async function parseTimeText(
  text: string,
  type: TimeType,
  edge: "from" | "to" = "from",
): Promise<bigint> {
  using database = await openDatabase();
  const sql =
    type.kind === "timestamp"
      ? await timestampSql(database, text, type, edge)
      : textTimeSql(sqlText(text), type);
  const [row] = await queryRows(database, `SELECT ${sql}`);
  const value = row?.[0];
  if (typeof value !== "bigint") throw timeArgumentInvalid(text, describeTimeType(type));
  return value;
}

async function timestampSql(
  database: Database,
  text: string,
  type: TimestampType,
  edge: "from" | "to",
): Promise<string> {
  if (isZoned(text)) return type.timezone === null ? "NULL" : textTimeSql(sqlText(text), type);
  const naive = { ...type, timezone: null };
  const wholeDay = edge === "to" && isDateShaped(text);
  if (type.timezone === null && !wholeDay) return textTimeSql(sqlText(text), naive);
  // Text that is no timestamp becomes NULL here, so that the casts below see valid timestamps only.
  const valid = `CASE WHEN ${textTimeSql(sqlText(text), naive)} IS NULL THEN NULL ELSE ${sqlText(text)} END`;
  const naiveMoment = `TRY_CAST(${valid} AS TIMESTAMP)`;
  const moment =
    type.timezone === null ? naiveMoment : await placeInZone(database, naiveMoment, type.timezone, text);
  return wholeDay
    ? `${epochSql(`(${moment} + INTERVAL 1 DAY)`, type.unit)} - 1`
    : epochSql(moment, type.unit);
}

/** The instant of a local time in a zone: a name that DuckDB knows, or an offset like `+02:00`. */
async function placeInZone(
  database: Database,
  naive: string,
  timezone: string,
  text: string,
): Promise<string> {
  if (/^[+-]\d/.test(timezone))
    return `CAST(CAST(${naive} AS VARCHAR) || ${sqlText(timezone)} AS TIMESTAMPTZ)`;
  await database.connection.run(`SET TimeZone = ${sqlText(timezone)}`).catch(() => {
    throw timeArgumentInvalid(
      text,
      `a time with an offset from UTC, and the time zone ${timezone} is not known`,
    );
  });
  return `CAST(${naive} AS TIMESTAMPTZ)`;
}

/** The type in words, for messages. */
export function describeTimeType(type: TimeType): string {
  if (type.kind === "date") return "a date (YYYY-MM-DD)";
  if (type.kind === "integer") return `an integer of ${type.bits} bits`;
  return type.timezone === null
    ? "a timestamp without time zone"
    : `a timestamp (time zone ${type.timezone})`;
}

/** A value of a time column as text: dates as YYYY-MM-DD, timestamps in UTC (with Z when the column has a zone). */
export function formatTime(value: bigint, type: TimeType): string {
  if (type.kind === "integer") return String(value);
  if (type.kind === "date")
    return isoText(value * SECONDS_PER_DAY)?.slice(0, -"T00:00:00.000Z".length) ?? `day ${value}`;
  const perSecond = UNITS_PER_SECOND[type.unit];
  const fraction = ((value % perSecond) + perSecond) % perSecond;
  const text = isoText((value - fraction) / perSecond);
  if (text === null) return `${value} ${type.unit}`;
  const digits = fraction === 0n ? "" : `.${String(fraction).padStart(SECOND_DIGITS[type.unit], "0")}`;
  return text.slice(0, -".000Z".length).replace("T", " ") + digits + (type.timezone === null ? "" : "Z");
}

function isoText(seconds: bigint): string | null {
  if (seconds > DATE_SECONDS_MAX || seconds < -DATE_SECONDS_MAX) return null;
  return new Date(Number(seconds) * 1000).toISOString();
}
