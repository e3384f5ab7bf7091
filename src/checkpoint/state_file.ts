import type { RecurrenceValues } from "../kernel/run/recurrences.ts";
import { ByteReader, jsonPiece } from "./byte_reader.ts";
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

/** A checkpoint but for the rows of its segments. */
interface State<Description> extends Omit<Checkpoint<Description>, "rows"> {
  readonly segments: readonly Segment[];
  /** Null if no row is kept. */
  readonly newest: LaneRow | null;
}

interface Head extends Pick<State<unknown>, "description" | "lanes" | "firstRow" | "segments"> {
  readonly hasNewest: boolean;
  readonly points: readonly { readonly row: number; readonly values: readonly SavedValue[] }[];
}

/** Tasks that have the same value. */
interface SavedValue {
  readonly fingerprints: readonly string[];
  readonly exact: readonly string[];
  readonly vectors: number;
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
  { description, lanes, firstRow, rows, points, laneCount }: Snapshot,
  segments: readonly Segment[],
): Uint8Array[] {
  const newest = rows.at(-1);
  const values = points.map(distinctValues);
  const head: Head = {
    description,
    lanes,
    firstRow,
    segments,
    hasNewest: newest !== undefined,
    points: points.map(({ row, exact }, index) => ({
      row,
      values: values[index]!.map(([state, fingerprints]) => {
        const known = fingerprints.filter((one) => exact.has(one));
        return { fingerprints, exact: known, vectors: state.length / laneCount };
      }),
    })),
  };
  const start = Buffer.from(MAGIC.padEnd(START_BYTES, "\0"));
  const pieces = [start, jsonPiece(head), ...(newest ? rowPieces(newest, lanes) : [])];
  for (const [{ buffer, byteOffset, length }] of values.flat())
    for (let at = 0; at < length; at += laneCount)
      pieces.push(new Uint8Array(buffer, byteOffset + 8 * at, 8 * lanes));
  start.writeUInt32LE(VERSION, 4);
  const bytes = pieces.reduce((sum, { length }) => sum + length, DIGEST_BYTES);
  start.writeBigUInt64LE(BigInt(bytes), 8);
  return pieces;
}

/** Each array once, with the tasks whose value it is: several fingerprints may name the same task. */
function distinctValues({ values }: RecurrencePoint): [Float64Array, string[]][] {
  const byState = Map.groupBy(values, ([, state]) => state);
  return [...byState].map(([state, entries]) => [state, entries.map(([fingerprint]) => fingerprint)]);
}

/** The first 4 bytes of a checkpoint as a text. @throws DataError E352 if an earlier release wrote it. */
export function checkFormat(start: Uint8Array, path: string | null): string {
  const magic = Buffer.from(start.subarray(0, 4)).toString("latin1");
  if (FORMER_MAGICS.includes(magic)) throw checkpointOfOtherFormat("factorloom 0.1 or 0.2", path);
  return magic;
}

/** The state with which bytes begin. @throws DataError E351, E352 */
export function stateIn(bytes: Uint8Array, path: string | null): Uint8Array {
  if (checkFormat(bytes, path) !== MAGIC || bytes.length < START_BYTES)
    throw checkpointDamaged("it does not start with its signature", path);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  if (view.getUint32(4, true) !== VERSION)
    throw checkpointOfOtherFormat("another release of factorloom", path);
  return bytes.subarray(0, Number(view.getBigUint64(8, true)));
}

/** @param bytes with the right digest */
export function readState<Description>(bytes: Uint8Array): State<Description> {
  const reader = new ByteReader(bytes.subarray(START_BYTES));
  const { hasNewest, points: saved, ...head } = reader.json() as Head & { readonly description: Description };
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
  const byState = new Map(
    [...new Set(values.values())].map((state) => {
      const target = new Float64Array((state.length / lanes) * from.length);
      for (let vector = 0; vector < state.length / lanes; vector++) {
        const values = state.subarray(vector * lanes, (vector + 1) * lanes);
        copyLanes(values, from, target, vector * from.length);
      }
      return [state, target];
    }),
  );
  return { row, values: new Map([...values].map(([one, state]) => [one, byState.get(state)!])), exact };
}
