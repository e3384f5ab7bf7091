/** Columns of values of JavaScript as columns of Arrow. */
import {
  type Data,
  type DataType,
  Dictionary,
  Field,
  Float64,
  Int32,
  Int64,
  makeData,
  makeVector,
  RecordBatch,
  Schema,
  Struct,
  Utf8,
  type Vector,
  vectorFromArray,
} from "apache-arrow";
import { columnUnreadable } from "../errors.ts";
import { arrowTimeType } from "../time/arrow_time.ts";

/** A record batch, and the texts of its dictionaries. */
export interface GivenBatch {
  readonly batch: RecordBatch;
  readonly dictionaries: ReadonlyMap<number, Vector>;
}

/**
 * A batch of columns of one length, each with the Arrow type of its values. Of arrays these are: for numbers a double, or an
 * integer of 64 bits if they are times; for bigints such an integer; for true and false 1 and 0; for Dates a timestamp in ms;
 * for texts, and values of several kinds, a text. Null, undefined, NaN and invalid Dates are null.
 *
 * @param given for messages
 * @param time position of the column of times
 * @throws DataError E315 for values of other kinds, and bigints of more than 64 bits.
 */
export function batchOfColumns(
  given: string,
  columns: readonly (readonly [name: string, values: ArrayLike<unknown>])[],
  time: number | null,
): GivenBatch {
  const dictionaries = new Map<number, Vector>();
  const children = columns.map(([name, values], index) => {
    const refuse = (what: string, row: number) => columnUnreadable(given, name, `${what} (row ${row + 1})`);
    const data = arrowColumn(values, index === time, index, refuse);
    if (data.dictionary !== undefined) dictionaries.set(index, data.dictionary);
    return data;
  });
  const fields = columns.map(([name], index) => new Field(name, children[index]!.type, true));
  const length = children[0]?.length ?? 0;
  const rows = makeData({ type: new Struct(fields), length, nullCount: 0, children });
  return { batch: new RecordBatch(new Schema(fields), rows), dictionaries };
}

/** The error for a value that has no type. */
type Refuse = (what: string, row: number) => Error;

type Kind = "number" | "bigint" | "boolean" | "date" | "text";

const NUMBERS: ReadonlySet<Kind> = new Set(["number", "bigint"]);
const INSTANT = arrowTimeType({ kind: "timestamp", unit: "ms", timezone: "UTC" });

function arrowColumn(values: ArrayLike<unknown>, isTime: boolean, id: number, refuse: Refuse): Data {
  const isFloat = values instanceof Float64Array || values instanceof Float32Array;
  if (ArrayBuffer.isView(values) && !(isTime && isFloat)) return makeVector(values as never).data[0]!;
  const kinds = new Set<Kind>();
  let areWhole = true;
  for (let row = 0; row < values.length; row++) {
    const kind = kindOf(values[row]);
    if (kind === undefined) throw refuse(typeof values[row], row);
    if (kind === null) continue;
    kinds.add(kind);
    areWhole &&= kind === "bigint" || Number.isSafeInteger(values[row]);
  }
  const is = (kind: Kind) => kinds.size === 1 && kinds.has(kind);
  if (is("date")) return filled(INSTANT, values, BigInt64Array, (date) => BigInt(Number(date)));
  if (is("bigint") || (isTime && areWhole && kinds.size > 0))
    return filled(new Int64(), values, BigInt64Array, (value, row) => {
      const integer = BigInt(value as bigint);
      if (BigInt.asIntN(64, integer) !== integer) throw refuse("bigint of more than 64 bits", row);
      return integer;
    });
  if (is("boolean") || (kinds.size > 0 && kinds.isSubsetOf(NUMBERS)))
    return filled(new Float64(), values, Float64Array, Number);
  return textColumn(values, id);
}

/** Null for null, undefined for a value that no column can have. */
function kindOf(value: unknown): Kind | null | undefined {
  if (value === null || value === undefined || Number.isNaN(value)) return null;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : "date";
  if (typeof value === "string") return "text";
  return typeof value === "object" || typeof value === "function" || typeof value === "symbol"
    ? undefined
    : (typeof value as Kind);
}

function textColumn(values: ArrayLike<unknown>, id: number): Data {
  const codes = new Map<string, number>();
  const codeOf = (value: unknown) => {
    const text = value instanceof Date ? value.toISOString() : String(value);
    const code = codes.get(text) ?? codes.size;
    codes.set(text, code);
    return code;
  };
  const column = filled(new Dictionary(new Utf8(), new Int32(), id), values, Int32Array, codeOf);
  column.dictionary = vectorFromArray([...codes.keys()], new Utf8());
  return column;
}

/** A column of converted values. */
function filled<T extends Float64Array | BigInt64Array | Int32Array, D extends DataType>(
  type: D,
  values: ArrayLike<unknown>,
  Values: new (length: number) => T,
  convert: (value: unknown, row: number) => T[number],
): Data<D> {
  const { length } = values;
  const data = new Values(length);
  const nullBitmap = new Uint8Array((length + 7) >> 3);
  let nullCount = 0;
  for (let row = 0; row < length; row++) {
    const value = values[row];
    if (kindOf(value) === null) nullCount++;
    else {
      data[row] = convert(value, row);
      nullBitmap[row >> 3]! |= 1 << (row & 7);
    }
  }
  return makeData({ type, length, nullCount, nullBitmap, data } as never) as unknown as Data<D>;
}
