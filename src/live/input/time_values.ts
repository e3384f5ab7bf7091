import { isTimezone, valueOfDate } from "../../data/time/dates.ts";
import { describeTimeType, formatTime } from "../../data/time/time_text.ts";
import { type TimeColumn, type TimestampType, type TimeType, UNITS_PER_SECOND } from "../../panel.ts";
import { optionInvalid, timeInvalid, timeOfOtherUnit } from "../errors.ts";

const UNITS = ["s", "ms", "us", "ns"] as const;

/** The end of the year 9999; later bars are refused. */
const LAST_SECOND = 253_402_300_799n;
/** 1990 and 2100: the unit in which a number lies between them is probably the right one. */
const [LIKELY_FIRST, LIKELY_END] = [631_152_000n, 4_102_444_800n];

/** The value for the time column. @throws DataError E372 for a time of another type or unit. */
export function timeValue(time: bigint | number | Date, type: TimeType): bigint {
  const value = time instanceof Date ? valueOfDate(time, type) : time;
  if (value === null || !(typeof value === "bigint" || Number.isInteger(value)))
    throw timeInvalid(time, typeText(type));
  const whole = BigInt(value);
  if (type.kind === "timestamp") checkUnit(whole, type);
  const isNarrow = type.kind === "date" || (type.kind === "integer" && type.bits === 32);
  const isExact = typeof value === "bigint" || Number.isSafeInteger(value);
  if (!isExact || BigInt.asIntN(isNarrow ? 32 : 64, whole) !== whole) throw timeInvalid(time, typeText(type));
  return whole;
}

function typeText(type: TimeType): string {
  return describeTimeType(type) + (type.kind === "timestamp" ? ` in ${type.unit}` : "");
}

function checkUnit(value: bigint, type: TimestampType): void {
  const seconds = value / UNITS_PER_SECOND[type.unit];
  if (seconds <= LAST_SECOND && seconds >= -LAST_SECOND) return;
  const likely = UNITS.find((unit) => {
    const found = value / UNITS_PER_SECOND[unit];
    return found >= LIKELY_FIRST && found < LIKELY_END;
  });
  const meant = likely && { unit: likely, text: formatTime(value, { ...type, unit: likely }) };
  throw timeOfOtherUnit(value, typeText(type), meant);
}

/** @throws UsageError E528 if the option `time` of `open` is no time column. */
export function checkTimeOption(time: Pick<TimeColumn, "name" | "type">): void {
  const { name, type } = time;
  if (typeof name !== "string" || name === "") throw optionInvalid("time.name", name, "the name of a column");
  if (type?.kind === "integer" && type.bits !== 32 && type.bits !== 64)
    throw optionInvalid("time.type.bits", type.bits, "32 or 64");
  if (type?.kind === "timestamp") {
    const { unit, timezone } = type;
    if (!UNITS.includes(unit)) throw optionInvalid("time.type.unit", unit, '"s", "ms", "us" or "ns"');
    if (timezone !== null && !isTimezone(timezone))
      throw optionInvalid("time.type.timezone", timezone, 'a time zone such as "America/New_York", or null');
  }
  const kind: unknown = type?.kind;
  if (kind !== "timestamp" && kind !== "integer" && kind !== "date")
    throw optionInvalid("time.type.kind", kind, '"timestamp", "date" or "integer"');
}
