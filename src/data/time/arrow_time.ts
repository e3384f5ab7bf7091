/** Conversions between the panel's time types and Arrow's types. */
import { DataType, DateDay, DateUnit, type Int, Int32, Int64, Timestamp, TimeUnit } from "apache-arrow";
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
  if (!DataType.isInt(type)) return null;
  const Values = integersLike(type);
  if (Values === BigUint64Array) return null;
  return { kind: "integer", bits: Values === Int32Array ? 32 : 64 };
}

export type Integers = typeof Int32Array | typeof BigInt64Array | typeof BigUint64Array;

/** Memory for all values of a type of whole numbers. */
export function integersLike({ bitWidth, isSigned }: Int): Integers {
  if (bitWidth < 32 || (bitWidth === 32 && isSigned)) return Int32Array;
  return bitWidth === 64 && !isSigned ? BigUint64Array : BigInt64Array;
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
