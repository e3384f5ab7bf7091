/**
 * SQL expressions that turn a time into its BIGINT of the panel (days, or units since 1970). DuckDB does all
 * parsing; the shapes below only refuse what its casts would accept and then silently cut: `2013-02-08 10:00` as a
 * DATE loses the time of day, `10:00+02` as a TIMESTAMP loses the offset, `1.5` as a BIGINT is rounded.
 */
import type { TimeType } from "../panel.ts";
import { sqlText } from "./database.ts";

export type TimestampUnit = Extract<TimeType, { kind: "timestamp" }>["unit"];

const DATE_SHAPE = "\\s*\\d{4,6}[-/]\\d{1,2}[-/]\\d{1,2}\\s*";
const INTEGER_SHAPE = "\\s*[+-]?\\d+\\s*";
const STARTS_WITH_YEAR = "^\\s*\\d{4,}[-/]"; // refuses infinity and epoch, which DuckDB knows as timestamps
const ENDS_WITH_ZONE = ":\\d\\d.*([Zz]|UTC|[+-]\\d\\d(:?\\d\\d)?)\\s*$";
const NANOSECOND_DIGITS = "\\.\\d{7,9}";

const DATE_PATTERN = new RegExp(`^${DATE_SHAPE}$`);
const ZONE_PATTERN = new RegExp(ENDS_WITH_ZONE);

/** Whether the text is a date without a time of day, by its shape. */
export function isDateShaped(text: string): boolean {
  return DATE_PATTERN.test(text);
}

/** Whether the text ends in a time zone or an offset from UTC, by its shape. */
export function isZoned(text: string): boolean {
  return ZONE_PATTERN.test(text);
}

/** BIGINT units since 1970 of a date, timestamp or zoned timestamp expression. */
export function epochSql(moment: string, unit: TimestampUnit): string {
  return unit === "s" ? `epoch_us(${moment}) // 1000000` : `epoch_${unit}(${moment})`;
}

/** BIGINT days since 1970 of a date expression. */
export function daysSql(date: string): string {
  return `${date} - DATE '1970-01-01'`;
}

/** BIGINT time of a text expression, NULL where the text is not exactly of that type. */
export function textTimeSql(text: string, type: TimeType): string {
  if (type.kind === "integer") {
    const cast = `TRY_CAST(${text} AS ${type.bits === 32 ? "INTEGER" : "BIGINT"})`;
    return `CASE WHEN regexp_full_match(${text}, ${sqlText(INTEGER_SHAPE)}) THEN CAST(${cast} AS BIGINT) END`;
  }
  if (type.kind === "date") {
    const days = daysSql(`TRY_CAST(${text} AS DATE)`);
    return `CASE WHEN regexp_full_match(${text}, ${sqlText(DATE_SHAPE)}) THEN ${days} END`;
  }
  const zoned = `regexp_matches(${text}, ${sqlText(ENDS_WITH_ZONE)})`;
  const shape = `regexp_matches(${text}, ${sqlText(STARTS_WITH_YEAR)}) AND ${zoned} = ${type.timezone !== null}`;
  return `CASE WHEN ${shape} THEN ${epochSql(`TRY_CAST(${text} AS ${momentSqlType(type)})`, type.unit)} END`;
}

/** DuckDB's type for a timestamp; it has no zoned type of nanoseconds, but its TIMESTAMP_NS cast heeds offsets. */
function momentSqlType(type: Extract<TimeType, { kind: "timestamp" }>): string {
  if (type.unit === "ns") return "TIMESTAMP_NS";
  return type.timezone === null ? "TIMESTAMP" : "TIMESTAMPTZ";
}

/** Condition: the text has more than six decimals of a second. */
export function hasNanosecondsSql(text: string): string {
  return `regexp_matches(${text}, ${sqlText(NANOSECOND_DIGITS)})`;
}
