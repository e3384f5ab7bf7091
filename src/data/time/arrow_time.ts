/** Conversions between the panel's time types and Arrow's types. */
import { DataType, DateDay, DateUnit, Int32, Int64, Timestamp, TimeUnit } from "apache-arrow";
import type { TimeType } from "../../panel.ts";

const MILLISECONDS_PER_DAY = 86_400_000;

const UNITS = [
  ["s", TimeUnit.SECOND],
  ["ms", TimeUnit.MILLISECOND],
  ["us", TimeUnit.MICROSECOND],
  ["ns", TimeUnit.NANOSECOND],
] as const;

/** The time type of a time column of this Arrow type; null if it cannot be a time column. */
export function timeTypeOf(type: DataType): TimeType | null {
  if (DataType.isDate(type)) return { kind: "date" };
  if (DataType.isTimestamp(type)) {
    const unit = UNITS.find(([, arrowUnit]) => arrowUnit === type.unit)?.[0] ?? "us";
    return { kind: "timestamp", unit, timezone: type.timezone || null };
  }
  if (!DataType.isInt(type) || (type.bitWidth === 64 && !type.isSigned)) return null;
  const fitsInt32 = type.bitWidth < 32 || (type.bitWidth === 32 && type.isSigned);
  return { kind: "integer", bits: fitsInt32 ? 32 : 64 };
}

/** Arrow values per unit of the time type: a Date64 counts milliseconds, a panel's dates count days. */
export function valuesPerUnit(type: DataType): number {
  return DataType.isDate(type) && type.unit === DateUnit.MILLISECOND ? MILLISECONDS_PER_DAY : 1;
}

/** The Arrow type of a time column. */
export function arrowTimeType(type: TimeType): DateDay | Timestamp | Int32 | Int64 {
  if (type.kind === "date") return new DateDay();
  if (type.kind === "integer") return type.bits === 32 ? new Int32() : new Int64();
  const unit = UNITS.find(([name]) => name === type.unit)?.[1] ?? TimeUnit.MICROSECOND;
  return new Timestamp(unit, type.timezone);
}
