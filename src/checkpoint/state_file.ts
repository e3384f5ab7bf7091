import type { RecurrenceValues } from "../kernel/run/recurrences.ts";
import { ByteReader, byteCount, jsonPiece } from "./byte_reader.ts";
import { checkpointDamaged, checkpointOfOtherFormat } from "./errors.ts";
import { copyLanes, type LaneRow, readRow, rowPieces } from "./lane_rows.ts";

/** Carried values of recursive operators before a row, and which of them, by fingerprint, are exact. */
export interface RecurrencePoint {
  readonly row: number;
  readonly values: RecurrenceValues;
  readonly exact: ReadonlySet<string>;
}

/** What a session or a job goes on from. */
export interface Checkpoint<Description> {
  /** What its owner says: plain data for JSON. */
  readonly description: Description;
  /** Lanes of the points and, at most, of the rows. */
  readonly lanes: number;
  /** The oldest kept row. */
  readonly firstRow: number;
  /** All kept rows; the newest one may still be revised. */
  readonly rows: readonly LaneRow[];
  readonly points: readonly RecurrencePoint[];
}

/** A checkpoint that is to be written; nothing of it may change until then. */
export interface Snapshot<Description = unknown> extends Checkpoint<Description> {
  /** Lanes of a vector of the points: those behind `lanes` are not written. */
  readonly laneCount: number;
  /** How often all rows had been replaced or forgotten: only the same rows continue a folder. */
  readonly renewals: number;
}

/** A file of rows. Bytes behind its length are ignored. */
export interface Segment {
  readonly name: string;
  readonly bytes: number;
  /** SHA-256 in hexadecimal digits. */
  readonly digest: string;
  readonly firstRow: number;
  readonly rowCount: number;
}

interface Head<Description> extends Pick<Checkpoint<Description>, "description" | "lanes" | "firstRow"> {
  readonly segments: readonly Segment[];
  readonly hasNewest: boolean;
  readonly points: readonly {
    readonly row: number;
    /** Tasks that have the same value are one. */
    readonly values: readonly {
      readonly fingerprints: readonly string[];
      readonly exact: readonly string[];
      readonly vectors: number;
    }[];
  }[];
}

/**
 * A state, little-endian:
 *
 *     bytes 0-3   "FLST"           bytes  8-15  number of all bytes
 *     bytes 4-7   format version   bytes 16-    `Head`, the newest row, the points, SHA-256 digest of all bytes before
 */
const MAGIC = "FLST";
const VERSION = 1;
const START_BYTES = 16;
export const DIGEST_BYTES = 32;
/** What checkpoints of 0.1 and 0.2 begin with. */
const FORMER_MAGICS = ["FLSC", "FLCP"];

/** The pieces of a state but for the digest at its end. */
export function statePieces(
  { description, lanes, firstRow, rows, points: given, laneCount }: Snapshot,
  segments: readonly Segment[],
): Uint8Array[] {
  const vectors: Uint8Array[] = [];
  const points = given.map(({ row, values, exact }) => {
    const byState = Map.groupBy(values.keys(), (one) => values.get(one)!);
    const saved = [...byState].map(([{ buffer, byteOffset, length }, fingerprints]) => {
      for (let at = 0; at < length; at += laneCount)
        vectors.push(new Uint8Array(buffer, byteOffset + 8 * at, 8 * lanes));
      const known = fingerprints.filter((one) => exact.has(one));
      return { fingerprints, exact: known, vectors: length / laneCount };
    });
    return { row, values: saved };
  });
  const head: Head<unknown> = { description, lanes, firstRow, segments, hasNewest: rows.length > 0, points };
  const start = Buffer.from(MAGIC.padEnd(START_BYTES, "\0"));
  const newest = rows.slice(-1).flatMap((row) => [...rowPieces(row, lanes)]);
  const pieces = [start, jsonPiece(head), ...newest, ...vectors];
  start.writeUInt32LE(VERSION, 4);
  start.writeBigUInt64LE(BigInt(byteCount(pieces) + DIGEST_BYTES), 8);
  return pieces;
}

/** The state with which bytes begin. @throws DataError E351, E352 */
export function stateIn(bytes: Uint8Array, path: string | null): Uint8Array {
  const magic = Buffer.from(bytes.subarray(0, 4)).toString("latin1");
  if (FORMER_MAGICS.includes(magic)) throw checkpointOfOtherFormat("factorloom 0.1 or 0.2", path);
  if (magic !== MAGIC || bytes.length < START_BYTES)
    throw checkpointDamaged("it does not start with its signature", path);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  if (view.getUint32(4, true) !== VERSION)
    throw checkpointOfOtherFormat("another release of factorloom", path);
  return bytes.subarray(0, Number(view.getBigUint64(8, true)));
}

/** Everything but the rows of the segments. @param bytes with the right digest */
export function readState<Description>(bytes: Uint8Array) {
  const reader = new ByteReader(bytes.subarray(START_BYTES));
  const { hasNewest, points: saved, ...head } = reader.json() as Head<Description>;
  const newest = hasNewest ? readRow(reader) : null;
  const points = saved.map(({ row, values }): RecurrencePoint => {
    const found = values.flatMap(({ fingerprints, vectors }) => {
      const state = new Float64Array(reader.take(8 * vectors * head.lanes).buffer);
      return fingerprints.map((one) => [one, state] as const);
    });
    return { row, values: new Map(found), exact: new Set(values.flatMap(({ exact }) => exact)) };
  });
  return { ...head, newest, points };
}

/** A stored point in other lanes. @param from which of its lanes each of them is */
export function withLanes(
  { row, values, exact }: RecurrencePoint,
  lanes: number,
  from: ArrayLike<number>,
): RecurrencePoint {
  const moved = new Map<Float64Array, Float64Array>();
  for (const state of new Set(values.values())) {
    const target = new Float64Array((state.length / lanes) * from.length);
    for (let vector = 0; vector * lanes < state.length; vector++)
      copyLanes(state.subarray(vector * lanes), from, target, vector * from.length);
    moved.set(state, target);
  }
  return { row, values: new Map([...values].map(([one, state]) => [one, moved.get(state)!])), exact };
}
