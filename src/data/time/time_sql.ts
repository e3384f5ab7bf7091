/**
 * SQL expressions that convert a time to the panel's BIGINT (days, or units since 1970). DuckDB parses the text; the
 * patterns below only refuse texts of which its casts would silently lose a part: `2013-02-08 10:00` as a DATE loses the
 * time of day, `10:00+02` as a TIMESTAMP loses the offset, `1.5` as a BIGINT is rounded.
 */
import { type TimestampType, type TimeType, UNITS_PER_SECOND } from "../../panel.ts";
import { sqlText } from "../duckdb/database.ts";

export type TimestampUnit = TimestampType["unit"];

const DATE_SHAPE = "\\s*\\d{4,6}[-/]\\d{1,2}[-/]\\d{1,2}\\s*";
const INTEGER_SHAPE = "\\s*[+-]?\\d+\\s*";
const STARTS_WITH_YEAR = "^\\s*\\d{4,}[-/]"; // refuses infinity and epoch, which DuckDB accepts as timestamps
const OFFSET = "[+-][01]\\d(:?[0-5]\\d)?\\s*$"; // DuckDB would accept +99:00
const ENDS_WITH_ZONE = `:\\d\\d.*(([Zz]|UTC)\\s*$|${OFFSET})`;
const LOST_IN_CASTS = ":\\d\\d.*[+-]|\\.\\d{10}"; // an offset with seconds, decimals beyond nanoseconds
const NANOSECOND_DIGITS = "\\.\\d{7,9}";

/** The function that converts a count to a moment, and the range of counts that it accepts (DuckDB 1.5). */
const MICROSECONDS = {
  make: "make_timestamp",
  perSecond: UNITS_PER_SECOND.us,
  least: -9_223_372_022_400_000_000n,
  greatest: 9_223_372_036_854_775_806n,
};
const NANOSECONDS = {
  make: "make_timestamp_ns",
  perSecond: UNITS_PER_SECOND.ns,
  least: -9_223_286_400_000_000_000n,
  greatest: 9_223_372_036_854_775_806n,
};

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
  return unit === "s" ? floorSql(`epoch_us(${moment})`, 1_000_000) : `epoch_${unit}(${moment})`;
}

/** Division of whole numbers that rounds down; `//` rounds towards 0. */
export function floorSql(value: string, divisor: number): string {
  return `(${value} // ${divisor} - CAST(${value} % ${divisor} < 0 AS BIGINT))`;
}

/**
 * The range of whole numbers, `perUnit` to a unit, for the times `first` to `last`. With several to a unit it includes one
 * more unit on either side.
 */
export function spanOfTimes(first: bigint, last: bigint, perUnit: number): readonly [bigint, bigint] {
  const margin = perUnit === 1 ? 0n : 1n;
  return [(first - margin) * BigInt(perUnit), (last + margin) * BigInt(perUnit)];
}

/** Condition on such numbers that all times from `first` to `last` fulfil. */
export function aroundSql(value: string, first: bigint, last: bigint, perUnit: number): string {
  const [least, greatest] = spanOfTimes(first, last, perUnit);
  return `${value} BETWEEN ${least} AND ${greatest}`;
}

/** The same for dates, which count days. */
export function aroundDatesSql(date: string, first: bigint, last: bigint): string {
  return `${date} BETWEEN DATE '1970-01-01' + (${first}) AND DATE '1970-01-01' + (${last})`;
}

/** The same for moments of a type of DuckDB (`TIMESTAMP`, `TIMESTAMP_NS`, ...), whose times are counted in the unit. */
export function aroundMomentsSql(
  moment: string,
  typeName: string,
  unit: TimestampUnit,
  first: bigint,
  last: bigint,
): string {
  const { make, perSecond, least, greatest } = typeName === "TIMESTAMP_NS" ? NANOSECONDS : MICROSECONDS;
  const bound = (comparison: string, time: bigint) => {
    const count = (time * perSecond) / UNITS_PER_SECOND[unit];
    if (count < least || count > greatest) return "true";
    return `${moment} ${comparison} CAST(${make}(CAST(${count} AS BIGINT)) AS ${typeName})`;
  };
  return `${bound(">=", first - 1n)} AND ${bound("<=", last + 1n)}`;
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
  const lost = `regexp_matches(regexp_replace(${text}, ${sqlText(OFFSET)}, ''), ${sqlText(LOST_IN_CASTS)})`;
  const shape = `regexp_matches(${text}, ${sqlText(STARTS_WITH_YEAR)}) AND ${zoned} = ${type.timezone !== null} AND NOT ${lost}`;
  return `CASE WHEN ${shape} THEN ${epochSql(`TRY_CAST(${text} AS ${momentSqlType(type)})`, type.unit)} END`;
}

/** DuckDB's type for a timestamp; it has no zoned type of nanoseconds, but its cast to TIMESTAMP_NS applies offsets. */
function momentSqlType(type: TimestampType): string {
  if (type.unit === "ns") return "TIMESTAMP_NS";
  return type.timezone === null ? "TIMESTAMP" : "TIMESTAMPTZ";
}

/** Condition: the text is a date without a time of day, by its shape. */
export function isDateShapedSql(text: string): string {
  return `regexp_full_match(${text}, ${sqlText(DATE_SHAPE)})`;
}

/** Condition: the text has more than six decimals of a second. */
export function hasNanosecondsSql(text: string): string {
  return `regexp_matches(${text}, ${sqlText(NANOSECOND_DIGITS)})`;
}
