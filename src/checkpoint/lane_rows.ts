import type { ParamValue } from "../ast/param_value.ts";
import { type ByteReader, paddedText } from "./byte_reader.ts";

/** A row of input `[lanes]`: arrays may be longer than the lanes that are in use. */
export interface LaneRow {
  readonly time: bigint;
  /** 1 for lanes that have a row; null if those have one that have a value. */
  readonly present: Uint8Array | null;
  /** Null is NaN. */
  readonly fields: ReadonlyMap<string, Float64Array>;
  /** Codes of labels; null is -1. */
  readonly groups: ReadonlyMap<string, Int32Array>;
  /** The params that the row was run with. */
  readonly params: ReadonlyMap<string, ParamValue>;
}

/** What the rows of a segment have. */
export interface RowSchema {
  readonly lanes: number;
  readonly fields: readonly string[];
  readonly groups: readonly string[];
}

/** What a row says beside its columns. */
interface RowHead {
  readonly time: string;
  readonly present: boolean;
  /** Columns of the schema that the row lacks. */
  readonly without: readonly string[];
  readonly params: readonly SavedParam[];
}

/** JSON has no infinities, and would write -0 as 0. */
export type SavedParam = readonly [name: string, value: ParamValue | { readonly number: string }];

export function savedParams(params: Iterable<readonly [string, ParamValue]>): SavedParam[] {
  return Array.from(params, ([name, value]): SavedParam => {
    const isPlain = typeof value !== "number" || (Number.isFinite(value) && !Object.is(value, -0));
    return [name, isPlain ? value : { number: Object.is(value, -0) ? "-0" : String(value) }];
  });
}

export function paramsOf(saved: readonly SavedParam[]): Map<string, ParamValue> {
  return new Map(
    saved.map(([name, value]) => [name, typeof value === "object" ? Number(value.number) : value]),
  );
}

/** The schema for a row: the known one, where it has all that the row has, else one that has both. */
export function schemaFor(row: LaneRow, lanes: number, known: RowSchema | null): RowSchema {
  const fields = new Set([...(known?.fields ?? []), ...row.fields.keys()]);
  const groups = new Set([...(known?.groups ?? []), ...row.groups.keys()]);
  const isKnown =
    known?.lanes === lanes && known.fields.length === fields.size && known.groups.length === groups.size;
  return isKnown ? known : { lanes, fields: [...fields].sort(), groups: [...groups].sort() };
}

/**
 * The bytes of a row, in pieces: `RowHead` as text, the marks of lanes that have a row, fields as doubles, groups as 32-bit
 * integers. All little-endian; each begins at a multiple of 8. Columns are views of the row.
 */
export function* rowPieces(row: LaneRow, { lanes, fields, groups }: RowSchema): Generator<Uint8Array> {
  const without = [
    ...fields.filter((name) => !row.fields.has(name)),
    ...groups.filter((name) => !row.groups.has(name)),
  ];
  const params = savedParams(row.params);
  const head: RowHead = { time: `${row.time}`, present: row.present !== null, without, params };
  yield paddedText(JSON.stringify(head));
  if (row.present) yield padded(row.present.subarray(0, lanes));
  for (const name of fields) if (row.fields.has(name)) yield bytesOf(row.fields.get(name)!, lanes);
  for (const name of groups) if (row.groups.has(name)) yield padded(bytesOf(row.groups.get(name)!, lanes));
}

/** Rows one after the other, with copies of their columns. @throws RangeError, SyntaxError if the bytes are no rows. */
export function* readRows(reader: ByteReader, { lanes, fields, groups }: RowSchema): Generator<LaneRow> {
  while (!reader.isAtEnd) {
    const { time, present, without, params } = reader.text() as RowHead;
    const isThere = (name: string) => !without.includes(name);
    yield {
      time: BigInt(time),
      present: present ? reader.take(lanes) : null,
      fields: new Map(
        fields.filter(isThere).map((name) => [name, new Float64Array(reader.take(8 * lanes).buffer)]),
      ),
      groups: new Map(
        groups.filter(isThere).map((name) => [name, new Int32Array(reader.take(4 * lanes).buffer)]),
      ),
      params: paramsOf(params),
    };
  }
}

function bytesOf(
  { buffer, byteOffset, BYTES_PER_ELEMENT }: Float64Array | Int32Array,
  lanes: number,
): Uint8Array {
  return new Uint8Array(buffer, byteOffset, lanes * BYTES_PER_ELEMENT);
}

function padded(bytes: Uint8Array): Uint8Array {
  if (bytes.length % 8 === 0) return bytes;
  const whole = new Uint8Array(8 * Math.ceil(bytes.length / 8));
  whole.set(bytes);
  return whole;
}
