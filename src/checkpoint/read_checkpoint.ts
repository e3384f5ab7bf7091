import { createHash, type Hash } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { readFully } from "../files/large_bytes.ts";
import { Pauses } from "../steps.ts";
import { ByteReader } from "./byte_reader.ts";
import { checkpointDamaged, checkpointUnreadable } from "./errors.ts";
import { type LaneRow, type RowSchema, readRows } from "./lane_rows.ts";
import {
  checkFormat,
  DIGEST_BYTES,
  readStart,
  readState,
  type Segment,
  type StoredState,
} from "./state_file.ts";
import { STATE_FILE, type WrittenFolder } from "./write_checkpoint.ts";

/** Bytes that are hashed at a time. */
const BYTES_AT_ONCE = 2 ** 20;

export interface StoredCheckpoint<Description> {
  /** Its points have `lanes + 1` values a vector: see `withLanes`. */
  readonly state: StoredState<Description>;
  /** All kept rows, also the newest; each has as many lanes as were in use then. */
  readonly rows: readonly LaneRow[];
  /** What a later checkpoint of these rows into the same folder continues; null for bytes. */
  readonly written: WrittenFolder | null;
}

/** Where the parts of a checkpoint are. */
interface Source {
  /** For messages. */
  pathOf(name: string): string | null;
  state(): Promise<Uint8Array>;
  segment(segment: Segment): Promise<Uint8Array>;
}

/**
 * Reads a whole checkpoint: the folder that `writeFolder` has written, or the bytes of `checkpointBytes`.
 *
 * @throws DataError E309 if there is no such folder, E351 if a part is missing or damaged, which it names, E352 if another
 *   release wrote it.
 */
export async function readCheckpoint<Description>(
  from: string | Uint8Array,
): Promise<StoredCheckpoint<Description>> {
  const source = typeof from === "string" ? await folderSource(from) : bytesSource(from);
  const state = await readStateOf<Description>(source);
  const rows: LaneRow[] = [];
  let last: WrittenFolder["last"] = null;
  let number = state.segments[0]?.firstRow ?? state.firstRow;
  for (const segment of state.segments) {
    const path = source.pathOf(segment.name);
    const bytes = await source.segment(segment);
    const hash = await hashOf(bytes);
    if (hash.copy().digest("hex") !== segment.digest)
      throw checkpointDamaged("its digest does not match", path);
    const reader = new ByteReader(bytes);
    const schema = understood(() => reader.text() as RowSchema, path);
    for (const row of understood(() => [...readRows(reader, schema)], path))
      if (number++ >= state.firstRow) rows.push(row);
    last = { schema, hash };
  }
  if (state.newest) rows.push(state.newest);
  const { id, segments } = state;
  return { state, rows, written: typeof from === "string" ? { id, segments, last } : null };
}

async function readStateOf<Description>(source: Source): Promise<StoredState<Description>> {
  const path = source.pathOf(STATE_FILE);
  const bytes = await source.state();
  const end = bytes.length - DIGEST_BYTES;
  const { bytes: length } = readStart(bytes, path);
  if (length !== bytes.length) throw checkpointDamaged("it does not have its length", path);
  const digest = (await hashOf(bytes.subarray(0, end))).digest();
  if (digest.compare(bytes.subarray(end)) !== 0) throw checkpointDamaged("its digest does not match", path);
  return understood(() => readState<Description>(bytes.subarray(0, end)), path);
}

/** Bytes whose digest fits, and that are still not what was to be written. */
function understood<T>(read: () => T, path: string | null): T {
  try {
    return read();
  } catch (cause) {
    throw checkpointDamaged((cause as Error).message, path, { cause });
  }
}

async function hashOf(bytes: Uint8Array): Promise<Hash> {
  const hash = createHash("sha256");
  const pauses = new Pauses();
  for (let at = 0; at < bytes.length; at += BYTES_AT_ONCE) {
    hash.update(bytes.subarray(at, at + BYTES_AT_ONCE));
    await pauses.afterStep();
  }
  return hash;
}

function bytesSource(bytes: Uint8Array): Source {
  const { bytes: stateBytes } = readStart(bytes, null);
  let at = stateBytes;
  return {
    pathOf: () => null,
    state: async () => bytes.subarray(0, stateBytes),
    segment: async (segment) => {
      at += segment.bytes;
      return bytes.subarray(at - segment.bytes, at);
    },
  };
}

async function folderSource(folder: string): Promise<Source> {
  const status = await stat(folder).catch((error: Error) => {
    throw checkpointUnreadable(folder, error.message, error);
  });
  if (!status.isDirectory()) {
    checkFormat(await partOf(folder, 4), folder);
    throw checkpointUnreadable(folder, "it is a file, and a checkpoint is a folder");
  }
  const pathOf = (name: string) => join(folder, name);
  return {
    pathOf,
    state: async () => await partOf(pathOf(STATE_FILE)),
    segment: async ({ name, bytes }) => await partOf(pathOf(name), bytes),
  };
}

/** A part of a checkpoint, or its first bytes. */
async function partOf(path: string, most?: number): Promise<Uint8Array> {
  return await readFully(path, most).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ENOENT"
      ? checkpointDamaged("the file is missing", path, { cause: error })
      : checkpointUnreadable(path, error.message, error);
  });
}
