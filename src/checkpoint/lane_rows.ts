import type { ParamValue } from "../ast/param_value.ts";
import { type ByteReader, jsonPiece } from "./byte_reader.ts";

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

/** What a row says before its columns. */
interface RowHead {
  readonly time: string;
  readonly lanes: number;
  readonly present: boolean;
  readonly fields: readonly string[];
  readonly groups: readonly string[];
  readonly params: readonly SavedParam[];
}

/** JSON has no infinities, and would write -0 as 0. */
export type SavedParam = readonly [name: string, value: string | boolean | { readonly number: string }];

export function savedParams(params: Iterable<readonly [string, ParamValue]>): SavedParam[] {
  const textOf = (value: number) => (Object.is(value, -0) ? "-0" : String(value));
  return Array.from(params, ([name, value]) => [
    name,
    typeof value === "number" ? { number: textOf(value) } : value,
  ]);
}

export function paramsOf(saved: readonly SavedParam[]): Map<string, ParamValue> {
  return new Map(
    saved.map(([name, value]) => [name, typeof value === "object" ? Number(value.number) : value]),
  );
}

/**
 * The bytes of a row, in pieces: `RowHead`, the marks of lanes that have a row, fields as doubles, groups as 32-bit integers.
 * Columns are views of the row.
 */
export function* rowPieces(row: LaneRow, lanes: number): Generator<Uint8Array> {
  const { time, present, fields, groups, params } = row;
  const head: RowHead = {
    time: `${time}`,
    lanes,
    present: present !== null,
    fields: [...fields.keys()],
    groups: [...groups.keys()],
    params: savedParams(params),
  };
  yield jsonPiece(head);
  if (present) yield present.subarray(0, lanes);
  for (const { buffer, byteOffset, BYTES_PER_ELEMENT } of [...fields.values(), ...groups.values()])
    yield new Uint8Array(buffer, byteOffset, lanes * BYTES_PER_ELEMENT);
}

/** The next row, with copies of its columns. */
export function readRow(reader: ByteReader): LaneRow {
  const { time, lanes, present, fields, groups, params } = reader.json() as RowHead;
  return {
    time: BigInt(time),
    present: present ? reader.take(lanes) : null,
    fields: new Map(fields.map((name) => [name, new Float64Array(reader.take(8 * lanes).buffer)])),
    groups: new Map(groups.map((name) => [name, new Int32Array(reader.take(4 * lanes).buffer)])),
    params: paramsOf(params),
  };
}

/** Copies a column to other lanes. @param from which lane of the column each of the target is */
export function copyLanes(
  column: Float64Array | Int32Array | Uint8Array,
  from: ArrayLike<number>,
  target: Float64Array | Int32Array | Uint8Array,
  start: number,
): void {
  for (let lane = 0; lane < from.length; lane++) target[start + lane] = column[from[lane]!]!;
}
