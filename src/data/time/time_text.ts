/** Parses and formats times as text, for `--from`, `--to` and messages. */
import { type TimestampType, type TimeType, UNITS_PER_SECOND } from "../../panel.ts";
import { type Database, type OpenDatabase, openDatabase, queryRows, sqlText } from "../duckdb/database.ts";
import { timeArgumentInvalid } from "../errors.ts";
import { epochSql, isDateShaped, isZoned, textTimeSql } from "./time_sql.ts";

const SECOND_DIGITS = { s: 0, ms: 3, us: 6, ns: 9 } as const;
const SECONDS_PER_DAY = 86_400n;
/** JavaScript dates end 100,000,000 days from 1970. */
const DATE_SECONDS_MAX = 8_640_000_000_000n;

/**
 * Parses a time as a value of a time column of the given type (see `TimeColumn.values`): rounded up, or with edge `to` rounded
 * down. In a column of timestamps a date without time of day is midnight in the column's time zone; with edge `to` it is
 * the last instant of that day, so that `--to 2014-12-31` includes the day.
 *
 * @throws UsageError E541 if the text is not a time of that type.
 * @example await parseTimeText("2014-01-02", { kind: "date" }) // 16072n
 */
export async function parseTimeText(
  text: string,
  type: TimeType,
  edge: "from" | "to" = "from",
  open: OpenDatabase = openDatabase,
): Promise<bigint> {
  if (text.includes("\0")) throw timeArgumentInvalid(text, describeTimeType(type));
  using database = await open();
  if (type.kind === "timestamp") return await parseMoment(database, text, type, edge);
  return await askTime(database, textTimeSql(sqlText(text), type), text, type);
}

/** @throws UsageError E541 where the expression is NULL. */
async function askTime(database: Database, sql: string, text: string, type: TimeType): Promise<bigint> {
  const [row] = await queryRows(database, `SELECT ${sql}`);
  const value = row?.[0];
  if (typeof value !== "bigint") throw timeArgumentInvalid(text, describeTimeType(type));
  return value;
}

/** DuckDB counts whole seconds; decimals are counted here, because it would truncate them. */
async function parseMoment(
  database: Database,
  text: string,
  type: TimestampType,
  edge: "from" | "to",
): Promise<bigint> {
  const perSecond = UNITS_PER_SECOND[type.unit];
  const [whole, decimals] = splitSeconds(text);
  const isWholeDay = edge === "to" && isDateShaped(text);
  const seconds = await askTime(
    database,
    await secondsSql(database, whole, type.timezone, isWholeDay),
    text,
    type,
  );
  if (isWholeDay) return seconds * perSecond - 1n;
  const scale = 10n ** BigInt(decimals.length);
  const scaled = BigInt(decimals || 0) * perSecond;
  return seconds * perSecond + (edge === "from" ? scaled + scale - 1n : scaled) / scale;
}

/** `10:00:00.25+01` as `10:00:00+01` and `25`. */
function splitSeconds(text: string): readonly [whole: string, decimals: string] {
  const decimals = /:\d\d:\d\d\.(\d+)(?![\d.])/.exec(text)?.[1] ?? "";
  return [decimals === "" ? text : text.replace(`.${decimals}`, ""), decimals];
}

/** BIGINT seconds since 1970 of a text without decimals, or of the midnight after a day. */
async function secondsSql(
  database: Database,
  text: string,
  timezone: string | null,
  isWholeDay: boolean,
): Promise<string> {
  const type: TimestampType = { kind: "timestamp", unit: "s", timezone };
  if (isZoned(text)) return timezone === null ? "NULL" : textTimeSql(sqlText(text), type);
  const naive = textTimeSql(sqlText(text), { ...type, timezone: null });
  if (timezone === null && !isWholeDay) return naive;
  // Text that is not a timestamp becomes NULL here, so that the casts below get only valid timestamps.
  const moment = `TRY_CAST(CASE WHEN ${naive} IS NULL THEN NULL ELSE ${sqlText(text)} END AS TIMESTAMP)`;
  const placed = timezone === null ? moment : await placeInZone(database, moment, timezone, text);
  return epochSql(isWholeDay ? `(${placed} + INTERVAL 1 DAY)` : placed, "s");
}

/** The instant of a local time in a zone, which is a name of DuckDB's or an offset like `+02:00`. */
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
