/** How the columns of an Arrow table are handed to DuckDB: the SQL type, and how a stretch of rows is copied. */
import {
  BIGINT,
  DOUBLE,
  type DuckDBType,
  type DuckDBValue,
  type DuckDBVector,
  INTEGER,
  UBIGINT,
  VARCHAR,
} from "@duckdb/node-api";
import { type Data, DataType, Precision, Vector } from "apache-arrow";

/** Gives the value of one row of a batch; null for null. */
type RowReader = (row: number) => DuckDBValue;

export interface ScanColumn {
  readonly type: DuckDBType;
  /** Copies rows `start` to `start + rowCount` of batch `batchIndex` into the vector. */
  fill(vector: DuckDBVector, batchIndex: number, start: number, rowCount: number): void;
}

/**
 * The column's type in DuckDB and its values per batch: integers exact, all other numbers as DOUBLE with NaN for
 * null (DuckDB's null masks cost more than the values), times as BIGINT, text as VARCHAR. Null for what no panel can
 * use: nested and binary columns, durations, times of day.
 */
export function scanColumnOf(type: DataType, batches: readonly Data[]): ScanColumn | null {
  if (isText(type)) return columnOf(VARCHAR, readTexts(batches));
  const numeric = numericOf(type);
  return numeric === null ? null : columnOf(numeric.type, batches.map(numeric.read));
}

function numericOf(type: DataType): { type: DuckDBType; read: (data: Data) => RowReader } | null {
  if (DataType.isInt(type)) {
    if (type.bitWidth < 32 || (type.bitWidth === 32 && type.isSigned))
      return { type: INTEGER, read: readIntegers };
    return { type: type.bitWidth === 64 && !type.isSigned ? UBIGINT : BIGINT, read: readBigints };
  }
  if (DataType.isDate(type) || DataType.isTimestamp(type)) return { type: BIGINT, read: readBigints };
  if (DataType.isFloat(type) && type.precision !== Precision.HALF) return { type: DOUBLE, read: readFloats };
  if (DataType.isFloat(type) || DataType.isBool(type) || isNumericDictionary(type)) {
    return { type: DOUBLE, read: readNumbers };
  }
  if (DataType.isDecimal(type)) return { type: DOUBLE, read: (data) => readDecimals(data, type.scale) };
  return DataType.isNull(type) ? { type: DOUBLE, read: () => () => Number.NaN } : null;
}

/** Text, plain or dictionary-encoded. */
export function isText(type: DataType): boolean {
  const valueType = DataType.isDictionary(type) ? type.dictionary : type;
  return DataType.isUtf8(valueType) || DataType.isLargeUtf8(valueType) || DataType.isUtf8View(valueType);
}

function isNumericDictionary(type: DataType): boolean {
  return (
    DataType.isDictionary(type) && (DataType.isInt(type.dictionary) || DataType.isFloat(type.dictionary))
  );
}

function columnOf(type: DuckDBType, readers: readonly RowReader[]): ScanColumn {
  return {
    type,
    fill(vector, batchIndex, start, rowCount) {
      const read = readers[batchIndex]!;
      for (let row = 0; row < rowCount; row += 1) vector.setItem(row, read(start + row));
      vector.flush();
    },
  };
}

function readFloats(data: Data): RowReader {
  const values: Float32Array | Float64Array = data.values;
  if (data.nullCount === 0) return (row) => values[row]!;
  return (row) => (data.getValid(row) ? values[row]! : Number.NaN);
}

function readIntegers(data: Data): RowReader {
  const values: Int32Array = data.values;
  return (row) => (data.getValid(row) ? values[row]! : null);
}

function readBigints(data: Data): RowReader {
  const values: Int32Array | Uint32Array | BigInt64Array | BigUint64Array = data.values;
  return (row) => (data.getValid(row) ? BigInt(values[row]!) : null);
}

/** Half floats, booleans (as 0 and 1) and dictionaries of numbers. */
function readNumbers(data: Data): RowReader {
  const vector = new Vector([data]);
  return (row) => {
    const value: unknown = vector.get(row);
    return value === null ? Number.NaN : Number(value);
  };
}

/** Decimals through their decimal text, which JavaScript rounds correctly to the nearest double. */
function readDecimals(data: Data, scale: number): RowReader {
  const words: Uint32Array = data.values;
  const wordCount = data.stride;
  return (row) => {
    if (!data.getValid(row)) return Number.NaN;
    let unscaled = 0n;
    for (let word = wordCount - 1; word >= 0; word -= 1) {
      unscaled = (unscaled << 32n) | BigInt(words[row * wordCount + word]!);
    }
    return Number(`${BigInt.asIntN(wordCount * 32, unscaled)}e${-scale}`);
  };
}

/** Batches mostly share one dictionary; each is decoded once, not once per batch or row. */
function readTexts(batches: readonly Data[]): RowReader[] {
  const labelsOf = new Map<Vector | undefined, (string | null)[]>();
  return batches.map((data): RowReader => {
    if (!DataType.isDictionary(data.type)) {
      const vector = new Vector([data]);
      return (row) => vector.get(row);
    }
    const labels = labelsOf.get(data.dictionary) ?? [...(data.dictionary ?? [])];
    labelsOf.set(data.dictionary, labels);
    const codes: Int32Array = data.values;
    return (row) => (data.getValid(row) ? (labels[Number(codes[row])] ?? null) : null);
  });
}
