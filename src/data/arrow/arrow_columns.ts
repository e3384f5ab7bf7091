/** How the columns of an Arrow table are passed to DuckDB: the SQL type, and a function that copies rows. */
import {
  BIGINT,
  DOUBLE,
  type DuckDBDataChunk,
  type DuckDBType,
  type DuckDBValue,
  DuckDBVector,
  INTEGER,
  UBIGINT,
  VARCHAR,
} from "@duckdb/node-api";
import { type Data, DataType, Precision, Vector } from "apache-arrow";
import { rawValues, setColumn } from "../duckdb/raw_values.ts";
import { type Integers, integersLike } from "../time/arrow_time.ts";

/** Copies rows `start` to `start + rowCount` of a batch into a column of the chunk, which has `rowCount` rows. */
type RowCopier = (chunk: DuckDBDataChunk, column: number, start: number, rowCount: number) => void;

export interface ScanColumn {
  readonly type: DuckDBType;
  /** The distinct labels, if the column has codes of labels. */
  readonly labels?: readonly string[];
  /** Returns the function that copies the rows of one batch, given its data of this column. */
  bind(data: Data): RowCopier;
}

const INTEGER_TYPES: ReadonlyMap<Integers, DuckDBType> = new Map<Integers, DuckDBType>([
  [Int32Array, INTEGER],
  [BigInt64Array, BIGINT],
  [BigUint64Array, UBIGINT],
]);

/** DuckDB reads decimals of more digits from Parquet as doubles. */
const DECIMAL_DIGITS_MAX = 38;

/** The value of one row of a batch; null for null. */
type RowReader = (row: number) => DuckDBValue;
type NumberReader = (row: number) => number;
type TypedValues = Float32Array | Float64Array | Int32Array | Uint32Array | BigInt64Array | BigUint64Array;

/**
 * The column's type in DuckDB and its values per batch: integers exact, all other numbers as DOUBLE with NaN for
 * null, times as BIGINT, text as VARCHAR, or as INTEGER codes when its
 * `dictionary` is known beforehand (a text per row takes about 0.3 us). Null for what no panel can use: nested columns, durations, times of day.
 */
export function scanColumnOf(type: DataType, dictionary: Vector | undefined): ScanColumn | null {
  if (isText(type)) return textColumn(type, dictionary);
  if (DataType.isInt(type)) {
    const Values = integersLike(type);
    return { type: INTEGER_TYPES.get(Values)!, bind: copyIntegers(Values) };
  }
  if (DataType.isDate(type) || DataType.isTimestamp(type))
    return { type: BIGINT, bind: copyIntegers(BigInt64Array) };
  if (DataType.isFloat(type) && type.precision !== Precision.HALF) return { type: DOUBLE, bind: copyFloats };
  const read = numberReader(type);
  return read === null ? null : { type: DOUBLE, bind: (data) => copyEach(read(data)) };
}

/** How to read a column of other numbers than integers, NaN for null; null for a column of something else. */
export function numberReader(type: DataType): ((data: Data) => NumberReader) | null {
  if (DataType.isFloat(type) || DataType.isBool(type) || isNumericDictionary(type)) return readNumbers;
  if (DataType.isDecimal(type)) return (data) => readDecimals(data, type.scale);
  return DataType.isNull(type) ? () => () => Number.NaN : null;
}

/** Text, plain or dictionary-encoded; also bytes, because some writers of Parquet do not mark text as such. */
export function isText(type: DataType): boolean {
  const valueType = DataType.isDictionary(type) ? type.dictionary : type;
  return (
    DataType.isUtf8(valueType) ||
    DataType.isLargeUtf8(valueType) ||
    DataType.isUtf8View(valueType) ||
    DataType.isBinary(valueType) ||
    DataType.isLargeBinary(valueType) ||
    DataType.isBinaryView(valueType)
  );
}

/** True for numbers with too many digits: integers of more than 64 bits, decimals of more than 38 digits. */
export function isTooWide(type: DataType): boolean {
  const valueType = DataType.isDictionary(type) ? type.dictionary : type;
  if (DataType.isInt(valueType)) return valueType.bitWidth > 64;
  return DataType.isDecimal(valueType) && valueType.precision > DECIMAL_DIGITS_MAX;
}

function isNumericDictionary(type: DataType): boolean {
  return (
    DataType.isDictionary(type) && (DataType.isInt(type.dictionary) || DataType.isFloat(type.dictionary))
  );
}

function textColumn(type: DataType, dictionary: Vector | undefined): ScanColumn {
  if (!DataType.isDictionary(type) || dictionary === undefined) return { type: VARCHAR, bind: copyTexts };
  const labels = [...new Set(decodeLabels(dictionary).filter((label) => label !== null))];
  const isUsable = labels.length > 0 && !labels.some((label) => label.includes("\0")); // SQL text ends at U+0000
  if (!isUsable) return { type: VARCHAR, bind: copyTexts };
  const codeOfLabel = new Map(labels.map((label, code) => [label, code]));
  return { type: INTEGER, labels, bind: (data) => copyCodes(data, codeOfLabel) };
}

function copyEach(read: RowReader): RowCopier {
  return (chunk, column, start, rowCount) => {
    const vector = chunk.getColumnVector(column);
    for (let row = 0; row < rowCount; row += 1) vector.setItem(row, read(start + row));
    vector.flush();
  };
}

/** Rows of a chunk. */
export const ROWS_MAX = DuckDBVector.standardSize();
/** Memory for a column of a chunk. */
const numbersBuffer = new Float64Array(ROWS_MAX);

function copyFloats(data: Data): RowCopier {
  const values: Float32Array | Float64Array = data.values;
  return (chunk, column, start, rowCount) => {
    const source = values.subarray(start, start + rowCount);
    if (data.nullCount === 0 && source instanceof Float64Array) return setColumn(chunk, column, source);
    const numbers = numbersBuffer.subarray(0, rowCount);
    numbers.set(source);
    forEachNull(data, start, rowCount, (row) => {
      numbers[row] = Number.NaN;
    });
    setColumn(chunk, column, numbers);
  };
}

/** Copies integers into a column of the type `Column`. */
const copyIntegers =
  (Column: Integers) =>
  (data: Data): RowCopier => {
    const values: TypedValues = data.values;
    return (chunk, column, start, rowCount) => {
      const source = values.subarray(start, start + rowCount);
      if (data.nullCount === 0 && source instanceof Column) return setColumn(chunk, column, source);
      const vector = chunk.getColumnVector(column);
      const target = rawValues(vector);
      if (target instanceof BigInt64Array && !(source instanceof BigInt64Array)) {
        for (let row = 0; row < rowCount; row += 1) target[row] = BigInt(source[row]!);
      } else (target as Int32Array).set(source as Int32Array);
      forEachNull(data, start, rowCount, (row) => vector.setItem(row, null));
      vector.flush();
    };
  };

/** Calls back for each null row, counted from `start`. */
function forEachNull(data: Data, start: number, rowCount: number, onNull: (row: number) => void): void {
  if (data.nullCount === 0) return;
  const { nullBitmap: bits, offset } = data;
  for (let row = 0; row < rowCount; row += 1) {
    const position = offset + start + row;
    if ((bits[position >> 3]! & (1 << (position & 7))) === 0) onNull(row);
  }
}

/** Half floats, booleans (as 0 and 1) and dictionaries of numbers. */
function readNumbers(data: Data): NumberReader {
  const vector = new Vector([data]);
  return (row) => {
    const value: unknown = vector.get(row);
    return value === null ? Number.NaN : Number(value);
  };
}

/** Decimals through their decimal text, which JavaScript rounds correctly to the nearest double. */
function readDecimals(data: Data, scale: number): NumberReader {
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

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** @throws TypeError for bytes that are not UTF-8. */
export function textOf(value: string | Uint8Array | null): string | null {
  return value instanceof Uint8Array ? utf8.decode(value) : value;
}

const labelsOfDictionary = new WeakMap<Vector, (string | null)[]>();

/** Batches mostly share one dictionary; each is decoded once, not once per batch or row. */
export function decodeLabels(dictionary: Vector): (string | null)[] {
  const labels = labelsOfDictionary.get(dictionary) ?? Array.from(dictionary, textOf);
  labelsOfDictionary.set(dictionary, labels);
  return labels;
}

function copyTexts(data: Data): RowCopier {
  if (!DataType.isDictionary(data.type)) {
    const vector = new Vector([data]);
    return copyEach((row) => textOf(vector.get(row)));
  }
  const labels = data.dictionary === undefined ? [] : decodeLabels(data.dictionary);
  const codes: Int32Array = data.values;
  return copyEach((row) => (data.getValid(row) ? (labels[Number(codes[row])] ?? null) : null));
}

/** Maps codes of the batch's dictionary, which may repeat a label or hold a null, to codes of distinct labels. */
function copyCodes(data: Data, codeOfLabel: ReadonlyMap<string, number>): RowCopier {
  const labels = data.dictionary === undefined ? [] : decodeLabels(data.dictionary);
  const codeOf = Int32Array.from(labels, (label) => (label === null ? -1 : codeOfLabel.get(label)!));
  const codes: Int32Array | BigInt64Array = data.values;
  return (chunk, column, start, rowCount) => {
    const vector = chunk.getColumnVector(column);
    const target = rawValues(vector) as Int32Array;
    for (let row = 0; row < rowCount; row += 1) {
      const code = codeOf[Number(codes[start + row])] ?? -1;
      if (code >= 0) target[row] = code;
      else vector.setItem(row, null);
    }
    forEachNull(data, start, rowCount, (row) => vector.setItem(row, null));
    vector.flush();
  };
}
