import { deserialize, serialize } from "node:v8";
import { digestOf, joinPieces, readFully } from "../../files/large_bytes.ts";
import { replaceFile } from "../../files/pending_file.ts";
import { writing } from "../../files/writing.ts";
import type { TimeColumn } from "../../panel.ts";
import { checkArgument, PATH } from "../../text/argument_kinds.ts";
import { checkpointDamaged, checkpointOfOtherSession, checkpointUnreadable } from "../errors.ts";
import type { SavedGroups } from "../input/group_codes.ts";
import type { SeriesFields } from "../input/live_input.ts";
import type { GivenParams } from "../live_params.ts";
import { CHECKPOINT } from "../options.ts";
import type { SavedProgress } from "./session_rows.ts";

/** A session without its progress. */
export interface SavedSession {
  readonly laneCount: number;
  /** By lane, and in the order of `session.symbols`. */
  readonly byLane: readonly string[];
  readonly symbols: readonly string[];
  readonly time: Pick<TimeColumn, "name" | "type">;
  readonly series: SeriesFields;
  readonly params: GivenParams;
  readonly groups: SavedGroups;
}

/**
 * A checkpoint of a session:
 *
 *     bytes  0-3   "FLSC"                       bytes 12-    description as JSON (`SavedSession`),
 *     bytes  4-7   format version                            `SavedProgress` by `v8.serialize`,
 *     bytes  8-11  length of the description                 32 bytes: SHA-256 digest of all bytes before
 *
 * Numbers are little-endian. A kept row takes 8 bytes a value and some 100 more; params and lanes that rows share are
 * written once.
 */
const MAGIC = 0x43534c46;
const VERSION = 5;
const HEADER_BYTES = 12;
const DIGEST_BYTES = 32;

export function packSession(session: SavedSession, progress: SavedProgress): Uint8Array<ArrayBuffer> {
  const description = Buffer.from(described(session));
  const rows = serialize(progress);
  const bytes = new Uint8Array(HEADER_BYTES);
  const header = new DataView(bytes.buffer);
  header.setUint32(0, MAGIC, true);
  header.setUint32(4, VERSION, true);
  header.setUint32(8, description.length, true);
  const pieces = [bytes, description, rows];
  return joinPieces([...pieces, digestOf(...pieces)]);
}

export interface UnpackedSession {
  readonly session: SavedSession;
  readonly progress: SavedProgress;
}

/** @throws DataError E351 if the checkpoint is damaged, E352 if another version wrote it; UsageError E528 for none. */
export function unpackSession(bytes: Uint8Array): UnpackedSession {
  checkArgument("a session", bytes, CHECKPOINT);
  const end = bytes.length - DIGEST_BYTES;
  if (end < HEADER_BYTES) throw checkpointDamaged("it is too short");
  const header = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (header.getUint32(0, true) !== MAGIC) throw checkpointDamaged("it does not start with its signature");
  if (Buffer.compare(digestOf(bytes.subarray(0, end)), bytes.subarray(end)) !== 0)
    throw checkpointDamaged("its digest does not match");
  if (header.getUint32(4, true) !== VERSION)
    throw checkpointOfOtherSession("it was written by another version");
  const rowsStart = HEADER_BYTES + header.getUint32(8, true);
  const text = Buffer.from(bytes.subarray(HEADER_BYTES, rowsStart)).toString();
  return {
    session: parsed(text),
    progress: deserialize(bytes.subarray(rowsStart, end)) as SavedProgress,
  };
}

/**
 * Writes the bytes of `session.checkpoint()` to a temporary file, syncs it and renames it: the path always leads to a
 * whole checkpoint.
 *
 * @throws ResourceError E442 if it cannot be written; an existing file stays whole.
 * @example await writeCheckpoint("session.checkpoint", await session.checkpoint());
 */
export async function writeCheckpoint(path: string, checkpoint: Uint8Array): Promise<void> {
  checkArgument("writeCheckpoint", path, PATH);
  checkArgument("writeCheckpoint", checkpoint, CHECKPOINT);
  await writing(path, () => replaceFile(path, checkpoint));
}

/**
 * Reads a file of `writeCheckpoint`, for the option `checkpoint` of `engine.openSession` or for `session.restore`.
 *
 * @throws DataError E309 if it cannot be opened.
 */
export async function readCheckpoint(path: string): Promise<Uint8Array> {
  checkArgument("readCheckpoint", path, PATH);
  return await readFully(path).catch((error: unknown) => {
    throw checkpointUnreadable(path, error);
  });
}

/** Numbers as text: JSON has neither bigints nor infinities, and -0 would become 0. */
function described(session: SavedSession): string {
  const params = Object.entries(session.params).map(([name, value]) => {
    return typeof value === "number"
      ? { name, number: Object.is(value, -0) ? "-0" : String(value) }
      : { name, value };
  });
  return JSON.stringify({ ...session, params });
}

function parsed(text: string): SavedSession {
  const description = JSON.parse(text);
  const params = (description.params as SavedParam[]).map((param) => {
    return [param.name, "number" in param ? Number(param.number) : param.value] as const;
  });
  return { ...description, params: Object.fromEntries(params) };
}

type SavedParam =
  | { readonly name: string; readonly number: string }
  | { readonly name: string; readonly value: string | boolean };
