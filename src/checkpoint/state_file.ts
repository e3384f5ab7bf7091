import type { RecurrenceValues } from "../kernel/run/recurrences.ts";
import { ByteReader, paddedText } from "./byte_reader.ts";
import { checkpointDamaged, checkpointOfOtherFormat } from "./errors.ts";
import { type LaneRow, type RowSchema, readRows, rowPieces, schemaFor } from "./lane_rows.ts";

/** Carried values of recursive operators before a row, and which of them, by fingerprint, are exact. */
export interface RecurrencePoint {
  readonly row: number;
  readonly values: RecurrenceValues;
  readonly exact: ReadonlySet<string>;
}

/** A file of rows, which begins with its schema. Bytes behind its length are ignored. */
export interface Segment {
  readonly name: string;
  readonly bytes: number;
  /** SHA-256 in hexadecimal digits. */
  readonly digest: string;
  readonly firstRow: number;
  readonly rowCount: number;
}

/** What is carried on: everything but the rows before the newest one. */
export interface State<Description> {
  /** What its owner says: plain data for JSON. */
  readonly description: Description;
  /** Lanes in use; those of new symbols come behind them. */
  readonly lanes: number;
  /** The oldest kept row. */
  readonly firstRow: number;
  /** Apart from the segments, as it may be revised. Null if no row is kept. */
  readonly newest: LaneRow | null;
  readonly points: readonly RecurrencePoint[];
}

export interface StoredState<Description> extends State<Description> {
  readonly id: string;
  readonly segments: readonly Segment[];
  /** Of the state itself. */
  readonly bytes: number;
}

interface Head extends Pick<StoredState<unknown>, "description" | "lanes" | "firstRow" | "segments"> {
  readonly newest: RowSchema | null;
  readonly points: readonly {
    readonly row: number;
    readonly values: readonly {
      readonly fingerprints: readonly string[];
      readonly exact: readonly string[];
      readonly vectors: number;
    }[];
  }[];
}

/**
 * A state:
 *
 *     bytes  0-3   "FLST"            bytes 16-23  number of all bytes
 *     bytes  4-7   format version    bytes 24-    length of the head, 4 bytes of 0, the head as JSON
 *     bytes  8-15  random id                      the newest row, the points, 32 bytes: SHA-256 digest of all bytes before
 *
 * All little-endian; parts begin at multiples of 8. A vector of a point has the values of the lanes in use, then that of a
 * lane which was absent in all rows: symbols that are new where it is read begin with it.
 */
const MAGIC = "FLST";
const VERSION = 1;
const ID_OFFSET = 8;
const LENGTH_OFFSET = 16;
const HEAD_OFFSET = 24;
export const DIGEST_BYTES = 32;
/** What checkpoints of 0.1 and 0.2 begin with. */
const FORMER_MAGICS = ["FLSC", "FLCP"];

/**
 * The pieces of a state but for the digest at its end.
 *
 * @param laneCount of the vectors of the points; the lane behind those in use was absent in all rows
 */
export function statePieces(
  { description, lanes, firstRow, newest, points }: State<unknown>,
  laneCount: number,
  id: string,
  segments: readonly Segment[],
): Uint8Array[] {
  const schema = newest && schemaFor(newest, lanes, null);
  const values = points.map((point) => distinctValues(point, laneCount));
  const head: Head = {
    description,
    lanes,
    firstRow,
    segments,
    newest: schema,
    points: points.map(({ row }, index) => ({
      row,
      values: values[index]!.map(({ state, ...said }) => said),
    })),
  };
  const start = new Uint8Array(HEAD_OFFSET);
  const pieces = [start, paddedText(JSON.stringify(head)), ...(schema ? rowPieces(newest, schema) : [])];
  for (const { state, vectors } of values.flat())
    for (let vector = 0; vector < vectors; vector++)
      pieces.push(new Uint8Array(state.buffer, state.byteOffset + 8 * vector * laneCount, 8 * (lanes + 1)));
  start.set(Buffer.from(MAGIC));
  start.set(Buffer.from(id, "hex"), ID_OFFSET);
  const view = new DataView(start.buffer);
  view.setUint32(4, VERSION, true);
  const bytes = pieces.reduce((sum, { length }) => sum + length, DIGEST_BYTES);
  view.setBigUint64(LENGTH_OFFSET, BigInt(bytes), true);
  return pieces;
}

/** Each array once: several fingerprints may name the same task. */
function distinctValues({ values, exact }: RecurrencePoint, laneCount: number) {
  return [...Map.groupBy(values, ([, state]) => state)].map(([state, entries]) => {
    const fingerprints = entries.map(([fingerprint]) => fingerprint);
    const known = fingerprints.filter((one) => exact.has(one));
    return { fingerprints, exact: known, vectors: state.length / laneCount, state };
  });
}

/** The first 4 bytes of a checkpoint as a text. @throws DataError E352 if an earlier release wrote it. */
export function checkFormat(start: Uint8Array, path: string | null): string {
  const magic = Buffer.from(start.subarray(0, 4)).toString("latin1");
  if (FORMER_MAGICS.includes(magic)) throw checkpointOfOtherFormat("factorloom 0.1 or 0.2", path);
  return magic;
}

/** Id and length of a state by its first `HEAD_OFFSET` bytes. @throws DataError E351, E352. */
export function readStart(
  start: Uint8Array,
  path: string | null,
): { readonly id: string; readonly bytes: number } {
  const magic = checkFormat(start, path);
  if (magic !== MAGIC) throw checkpointDamaged("it does not start with its signature", path);
  if (start.length < HEAD_OFFSET) throw checkpointDamaged("it is too short", path);
  const view = new DataView(start.buffer, start.byteOffset, start.length);
  if (view.getUint32(4, true) !== VERSION)
    throw checkpointOfOtherFormat("another release of factorloom", path);
  const id = Buffer.from(start.subarray(ID_OFFSET, LENGTH_OFFSET)).toString("hex");
  return { id, bytes: Number(view.getBigUint64(LENGTH_OFFSET, true)) };
}

/** @param bytes without the digest, which fits. @throws RangeError, SyntaxError if they are no state */
export function readState<Description>(bytes: Uint8Array): StoredState<Description> {
  const { id, bytes: length } = readStart(bytes, null);
  const reader = new ByteReader(bytes.subarray(HEAD_OFFSET));
  const {
    newest: schema,
    points: saved,
    ...head
  } = reader.text() as Head & { readonly description: Description };
  const newest = schema && readRows(reader, schema).next().value!;
  const points = saved.map(({ row, values }): RecurrencePoint => {
    const found = values.flatMap(({ fingerprints, vectors }) => {
      const state = new Float64Array(reader.take(8 * vectors * (head.lanes + 1)).buffer);
      return fingerprints.map((one) => [one, state] as const);
    });
    return { row, values: new Map(found), exact: new Set(values.flatMap(({ exact }) => exact)) };
  });
  return { ...head, newest, points, id, bytes: length };
}

/** A stored point for sessions with more lanes: those behind the lanes in use get the value of the absent lane. */
export function withLanes(
  { row, values, exact }: RecurrencePoint,
  lanes: number,
  laneCount: number,
): RecurrencePoint {
  const byState = new Map(
    [...new Set(values.values())].map((state) => [state, spread(state, lanes, laneCount)]),
  );
  return { row, values: new Map([...values].map(([one, state]) => [one, byState.get(state)!])), exact };
}

function spread(state: Float64Array, lanes: number, laneCount: number): Float64Array {
  const vectors = state.length / (lanes + 1);
  const spread = new Float64Array(vectors * laneCount);
  for (let vector = 0; vector < vectors; vector++) {
    const [from, to] = [vector * (lanes + 1), vector * laneCount];
    spread.set(state.subarray(from, from + lanes), to);
    spread.fill(state[from + lanes]!, to + lanes, to + laneCount);
  }
  return spread;
}
