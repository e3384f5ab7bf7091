/** The columns of a table as output formats have them: numbers, times and texts. */
import { type Data, DataType, type Schema, Vector } from "apache-arrow";
import type { TimestampType, TimeType } from "../../panel.ts";
import { decodeLabels, isText, numberReader, textOf } from "../arrow/arrow_columns.ts";
import { timeTypeOf, valuesPerUnit } from "../time/arrow_time.ts";
import { columnNotWritable } from "./output_errors.ts";

export interface TableColumn {
  readonly name: string;
  /** The memory of its values. */
  readonly kind: "double" | "int32" | "int64" | "uint64" | "text";
  /** Of dates and timestamps. */
  readonly time: Exclude<TimeType, { kind: "integer" }> | null;
  /** The values of one batch, given its data of this column. */
  valuesOf(data: Data): ColumnValues;
}

export interface ColumnValues {
  /** NaN is null; of text the positions in `labels`, -1 for null. */
  readonly values: Float64Array | Int32Array | BigInt64Array | BigUint64Array;
  readonly labels: readonly string[];
  /** A bit per value, least significant first, 0 for null; null if only NaN and -1 are. */
  readonly bits: Uint8Array | null;
  /** The bit of the first value. */
  readonly firstBit: number;
}

const NO_LABELS: readonly string[] = [];

/** @throws UsageError E528 for a column that no format but Arrow can hold: nested ones, durations, ... */
export function tableColumns({ fields }: Schema): TableColumn[] {
  return fields.map((field) => {
    const column = columnOf(field.type);
    if (column === null) throw columnNotWritable(field);
    return { name: field.name, ...column };
  });
}

/** Whether the value is null by its bit. */
export function isNullAt({ bits, firstBit }: ColumnValues, row: number): boolean {
  const bit = firstBit + row;
  return bits !== null && (bits[bit >> 3]! & (1 << (bit & 7))) === 0;
}

function columnOf(type: DataType): Omit<TableColumn, "name"> | null {
  if (isText(type)) return { kind: "text", time: null, valuesOf: textsOf };
  if (DataType.isDate(type) || DataType.isTimestamp(type)) return timeColumn(type);
  if (DataType.isInt(type)) {
    if (type.bitWidth < 32 || (type.bitWidth === 32 && type.isSigned)) return integers("int32", Int32Array);
    if (type.bitWidth === 64 && !type.isSigned) return integers("uint64", BigUint64Array);
    return integers("int64", BigInt64Array);
  }
  const read = numberReader(type);
  if (read === null) return null;
  const valuesOf = (data: Data) => {
    if (data.values instanceof Float64Array && DataType.isFloat(type)) return withBits(data, data.values);
    const reader = read(data);
    return withoutBits(Float64Array.from({ length: data.length }, (_, row) => reader(row)));
  };
  return { kind: "double", time: null, valuesOf };
}

/** A Date64 counts milliseconds; whole days are left of it. */
function timeColumn(type: DataType): Omit<TableColumn, "name"> {
  const time = timeTypeOf(type) as { kind: "date" } | TimestampType;
  if (time.kind === "timestamp") return { ...integers("int64", BigInt64Array), time };
  const perDay = valuesPerUnit(type);
  const days = (values: ArrayLike<bigint | number>) =>
    Int32Array.from(values, (value) => Math.floor(Number(value) / perDay));
  const valuesOf = (data: Data) => withBits(data, perDay === 1 ? data.values : days(data.values));
  return { kind: "int32", time, valuesOf };
}

function integers(
  kind: "int32" | "int64" | "uint64",
  Values: typeof Int32Array | typeof BigInt64Array | typeof BigUint64Array,
): Omit<TableColumn, "name"> {
  const widened = ({ values, length }: Data) => {
    const own = new Values(length);
    for (let row = 0; row < length; row += 1)
      own[row] = own instanceof Int32Array ? values[row] : BigInt(values[row]);
    return own;
  };
  const valuesOf = (data: Data) =>
    withBits(data, data.values instanceof Values ? data.values : widened(data));
  return { kind, time: null, valuesOf };
}

function textsOf(data: Data): ColumnValues {
  const dictionary = DataType.isDictionary(data.type) ? data.dictionary : undefined;
  if (dictionary !== undefined) {
    const labels = decodeLabels(dictionary);
    if (data.nullCount === 0 && data.values instanceof Int32Array && !labels.includes(null))
      return withoutBits(data.values, labels as readonly string[]);
  }
  const vector = new Vector([data]);
  const positions = new Map<string, number>();
  const codes = new Int32Array(data.length);
  for (let row = 0; row < data.length; row += 1) {
    const text = textOf(vector.get(row));
    if (text !== null && !positions.has(text)) positions.set(text, positions.size);
    codes[row] = text === null ? -1 : positions.get(text)!;
  }
  return withoutBits(codes, [...positions.keys()]);
}

function withBits(data: Data, values: ColumnValues["values"]): ColumnValues {
  const hasNulls = data.nullCount > 0;
  return { values, labels: NO_LABELS, bits: hasNulls ? data.nullBitmap : null, firstBit: data.offset };
}

function withoutBits(values: ColumnValues["values"], labels = NO_LABELS): ColumnValues {
  return { values, labels, bits: null, firstBit: 0 };
}
