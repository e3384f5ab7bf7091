import { createHash, type Hash } from "node:crypto";
import { join } from "node:path";
import { readFully } from "../files/large_bytes.ts";
import { Pauses } from "../steps.ts";
import { ByteReader } from "./byte_reader.ts";
import { checkpointDamaged, checkpointMissing } from "./errors.ts";
import { type LaneRow, readRow } from "./lane_rows.ts";
import { type Checkpoint, DIGEST_BYTES, readState, stateIn } from "./state_file.ts";
import { STATE_FILE, type WrittenFolder } from "./write_checkpoint.ts";

/** Bytes that are hashed at a time. */
const BYTES_AT_ONCE = 2 ** 20;

export interface StoredCheckpoint<Description> extends Checkpoint<Description> {
  /** What the next checkpoint of these rows into the same folder continues. */
  readonly written: WrittenFolder;
}

/**
 * Reads a whole checkpoint: the folder that `writeFolder` has written, or the bytes of `checkpointBytes`.
 *
 * @throws DataError E309 if there is no such folder, or no state in it yet, E351 if a part is damaged or missing, which it
 *   names, E352 if another release wrote it.
 */
export async function readCheckpoint<Description>(
  from: string | Uint8Array,
  stateFile = STATE_FILE,
): Promise<StoredCheckpoint<Description>> {
  const folder = typeof from === "string" ? from : null;
  const pathOf = (name: string) => (folder === null ? null : join(folder, name));
  const all = typeof from === "string" ? await stateBytes(from, stateFile) : from;
  const path = pathOf(stateFile);
  const bytes = stateIn(all, path);
  const end = bytes.length - DIGEST_BYTES;
  const digest = (await hashOf(bytes.subarray(0, end))).digest("hex");
  if (digest !== Buffer.from(bytes.subarray(end)).toString("hex")) throw digestDiffers(path);
  const { segments, newest, ...state } = readState<Description>(bytes.subarray(0, end));
  const rows: LaneRow[] = [];
  let hash: Hash | null = null;
  let at = bytes.length;
  for (const { name, bytes: length, digest, firstRow } of segments) {
    const path = pathOf(name);
    const part = path === null ? all.subarray(at, at + length) : await segmentBytes(path, length);
    at += length;
    hash = await hashOf(part);
    if (hash.copy().digest("hex") !== digest) throw digestDiffers(path);
    const reader = new ByteReader(part);
    for (let row = firstRow; !reader.isAtEnd; row++) {
      const read = readRow(reader);
      if (row >= state.firstRow) rows.push(read);
    }
  }
  if (newest) rows.push(newest);
  return { ...state, rows, written: { stateFile, digest, segments, hash, renewals: 0 } };
}

const digestDiffers = (path: string | null) => checkpointDamaged("its digest does not match", path);

async function hashOf(bytes: Uint8Array): Promise<Hash> {
  const hash = createHash("sha256");
  const pauses = new Pauses();
  for (let at = 0; at < bytes.length; at += BYTES_AT_ONCE) {
    hash.update(bytes.subarray(at, at + BYTES_AT_ONCE));
    await pauses.afterStep();
  }
  return hash;
}

async function stateBytes(folder: string, stateFile: string): Promise<Uint8Array> {
  return await readFully(join(folder, stateFile)).catch(async (error: NodeJS.ErrnoException) => {
    // A file in the place of the folder: of an earlier release.
    if (error.code === "ENOTDIR")
      await readFully(folder, 4).then(
        (bytes) => stateIn(bytes, folder),
        () => {},
      );
    throw checkpointMissing(folder, error);
  });
}

async function segmentBytes(path: string, length: number): Promise<Uint8Array> {
  return await readFully(path, length).catch((cause: Error) => {
    throw checkpointDamaged(cause.message, path, { cause });
  });
}
