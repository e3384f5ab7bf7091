/** The columns of a table as Parquet and texts have them: numbers, times and texts. */
import { type Data, DataType, type Field, type Schema, Vector } from "apache-arrow";
import type { UsageError } from "../../errors.ts";
import type { TimestampType } from "../../panel.ts";
import { wrongArgument } from "../../text/argument_kinds.ts";
import { decodeLabels, isText, numberReader, textOf } from "../arrow/arrow_columns.ts";
import { quoted } from "../errors.ts";
import { type Integers, integersLike, timeTypeOf, valuesPerUnit } from "../time/arrow_time.ts";

export interface TableColumn {
  readonly name: string;
  /** The memory of its values; of text that of its bytes. */
  readonly kind: "double" | "int32" | "int64" | "uint64" | "text";
  /** Of dates and timestamps. */
  readonly time: { readonly kind: "date" } | TimestampType | null;
  /** The values of one batch, given its data of this column. */
  valuesOf(data: Data): ColumnValues;
}

export interface ColumnValues {
  /** One per row; NaN is null. Of text the positions in `labels`. */
  readonly values: Float64Array | Int32Array | BigInt64Array | BigUint64Array;
  readonly labels: readonly string[] | null;
  /** A bit per row from `firstBit` on, least significant first, 0 for null; null if only NaN is null. */
  readonly bits: Uint8Array | null;
  readonly firstBit: number;
}

/** @throws UsageError E528 for a column that only Arrow can hold: nested ones, durations, ... */
export function tableColumns({ fields }: Schema): TableColumn[] {
  return fields.map((field) => {
    const column = columnOf(field.type);
    if (column === null) throw columnNotWritable(field);
    return { name: field.name, ...column };
  });
}

function columnNotWritable({ name, type }: Field): UsageError {
  const given = `${quoted(name)} of type ${type}`;
  return wrongArgument(
    "writing",
    "columns of times, text and numbers",
    given,
    "leave it out, or write .arrow",
  );
}

/** Whether the value is null by its bit. */
export function isNullAt({ bits, firstBit }: ColumnValues, row: number): boolean {
  const bit = firstBit + row;
  return bits !== null && (bits[bit >> 3]! & (1 << (bit & 7))) === 0;
}

function columnOf(type: DataType): Omit<TableColumn, "name"> | null {
  const time = DataType.isDate(type) || DataType.isTimestamp(type) ? timeTypeOf(type) : null;
  if (time?.kind === "date") return { kind: "int32", time, valuesOf: daysOf(valuesPerUnit(type)) };
  if (time?.kind === "timestamp") return { kind: "int64", time, valuesOf: integersOf(BigInt64Array) };
  if (isText(type)) return { kind: "text", time: null, valuesOf: textsOf };
  if (DataType.isInt(type)) {
    const Values = integersLike(type);
    const kind = Values === Int32Array ? "int32" : Values === BigUint64Array ? "uint64" : "int64";
    return { kind, time: null, valuesOf: integersOf(Values) };
  }
  const read = numberReader(type);
  return read && { kind: "double", time: null, valuesOf: doublesOf(read) };
}

function doublesOf(read: (data: Data) => (row: number) => number) {
  return (data: Data): ColumnValues => {
    if (data.values instanceof Float64Array && DataType.isFloat(data.type))
      return withBits(data, data.values);
    return withBits(
      data,
      Float64Array.from({ length: data.length }, (_, row) => read(data)(row)),
    );
  };
}

/** Whole days: a Date64 counts milliseconds. */
function daysOf(perDay: number) {
  return (data: Data): ColumnValues => {
    if (perDay === 1) return withBits(data, data.values);
    const values: ArrayLike<bigint> = data.values;
    return withBits(
      data,
      Int32Array.from(values, (value) => Math.floor(Number(value) / perDay)),
    );
  };
}

function integersOf(Values: Integers) {
  return (data: Data): ColumnValues => {
    const { values, length } = data;
    if (values instanceof Values) return withBits(data, values);
    const own = new Values(length);
    for (let row = 0; row < length; row += 1)
      own[row] = own instanceof Int32Array ? values[row] : BigInt(values[row]);
    return withBits(data, own);
  };
}

function textsOf(data: Data): ColumnValues {
  const { type, values, length } = data;
  const known = DataType.isDictionary(type) && data.dictionary ? decodeLabels(data.dictionary) : [null];
  if (values instanceof Int32Array && !known.includes(null)) return withBits(data, values, known as string[]);
  const vector = new Vector([data]);
  const positions = new Map<string, number>();
  const codes = new Int32Array(length);
  const bits = new Uint8Array((length + 7) >> 3);
  for (let row = 0; row < length; row += 1) {
    const text = textOf(vector.get(row));
    if (text === null) continue;
    if (!positions.has(text)) positions.set(text, positions.size);
    codes[row] = positions.get(text)!;
    bits[row >> 3]! |= 1 << (row & 7);
  }
  return { values: codes, labels: [...positions.keys()], bits, firstBit: 0 };
}

function withBits(data: Data, values: ColumnValues["values"], labels: readonly string[] | null = null) {
  const { length, nullCount, nullBitmap, offset } = data;
  const own = values.length === length ? values : values.subarray(0, length);
  return { values: own, labels, bits: nullCount > 0 ? nullBitmap : null, firstBit: offset };
}
