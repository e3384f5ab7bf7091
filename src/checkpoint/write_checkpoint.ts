import { createHash, type Hash, randomBytes } from "node:crypto";
import { open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { makeDurableFolder, syncFolder } from "../files/durable.ts";
import { replaceFileBy } from "../files/pending_file.ts";
import { writeFully } from "../files/write_fully.ts";
import { writing } from "../files/writing.ts";
import { Pauses } from "../steps.ts";
import { byteCount } from "./byte_reader.ts";
import { rowPieces } from "./lane_rows.ts";
import { DIGEST_BYTES, type Segment, type Snapshot, statePieces } from "./state_file.ts";

/** Names the segments and holds everything but their rows. A folder holds a checkpoint once it has it. */
export const STATE_FILE = "state";
const SEGMENT_NAME = /^rows-[0-9a-f]{16}$/;
/** A segment takes rows until it has as many bytes; it is deleted when all its rows are too old. */
const SEGMENT_BYTES = 8 * 2 ** 20;
/** Bytes that are hashed and written at a time: the main thread does nothing else meanwhile. */
const BYTES_AT_ONCE = 2 ** 18;

/** What a folder holds: the next checkpoint of the same rows continues it. */
export interface WrittenFolder extends Pick<Snapshot, "renewals"> {
  readonly stateFile: string;
  /** Of the state, in hexadecimal digits. */
  readonly digest: string;
  readonly segments: readonly Segment[];
  /** Of the last segment, which may take more rows; null if there is none. */
  readonly hash: Hash | null;
}

/** Writes pieces at a position of a file. */
type Put = (pieces: readonly Uint8Array[], position: number) => Promise<void>;

/** Gives work what it needs to write a segment from some position on. The bytes then survive a loss of power. */
type WithSegment = (name: string, start: number, work: (put: Put) => Promise<void>) => Promise<void>;

/**
 * Writes a checkpoint into a folder, which is made if it is missing: rows that it does not have yet behind those that it
 * has, then the state, which is renamed over a former one of its name. A crash at any moment leaves the former checkpoint
 * or the new one. One writer at a time may write to a folder. `removeOthers` then removes what is not needed any more.
 *
 * @param known what the folder had when these rows were last written there or read from there
 * @throws ResourceError E442 if the folder cannot be written; its former checkpoint stays whole.
 */
export async function writeFolder(
  folder: string,
  snapshot: Snapshot,
  known: WrittenFolder | undefined,
  stateFile = STATE_FILE,
): Promise<WrittenFolder> {
  return await writing(folder, async () => {
    await makeDurableFolder(folder);
    const isContinued = known?.renewals === snapshot.renewals && (await isAsKnown(folder, known));
    const rows = await writeSegments(snapshot, isContinued ? known : null, async (name, start, work) => {
      await using handle = await open(join(folder, name), start === 0 ? "wx" : "r+");
      await work(async (pieces, position) => await writeFully(handle, pieces, position));
      await handle.sync();
    });
    await syncFolder(folder);
    let digest = "";
    await replaceFileBy(join(folder, stateFile), async (handle) => {
      digest = await writeState(snapshot, rows.segments, async (pieces) => await writeFully(handle, pieces));
    });
    await syncFolder(folder);
    return { ...rows, stateFile, digest, renewals: snapshot.renewals };
  });
}

/** Deletes the segments of a folder that its state does not name. @throws ResourceError E442 */
export async function removeOthers(folder: string, { segments }: WrittenFolder): Promise<void> {
  const named = new Set(segments.map(({ name }) => name));
  await writing(folder, async () => {
    for (const name of await readdir(folder))
      if (SEGMENT_NAME.test(name) && !named.has(name)) await rm(join(folder, name), { force: true });
  });
}

/** The same parts as bytes: the state, then the segments. */
export async function checkpointBytes(snapshot: Snapshot): Promise<Uint8Array<ArrayBuffer>> {
  const pauses = new Pauses();
  const parts: Uint8Array[] = [];
  const put: Put = async (pieces) => {
    parts.push(...pieces);
    await pauses.afterStep();
  };
  const { segments } = await writeSegments(snapshot, null, async (_name, _start, work) => await work(put));
  const rows = parts.splice(0);
  await writeState(snapshot, segments, put);
  const all = [...parts, ...rows];
  const bytes = new Uint8Array(byteCount(all));
  let at = 0;
  for (const part of all) {
    bytes.set(part, at);
    at += part.length;
    await pauses.afterStep();
  }
  return bytes;
}

/** Whether nobody else has written to the folder, and its segments are still there; else it is written whole. */
async function isAsKnown(folder: string, { stateFile, digest, segments }: WrittenFolder): Promise<boolean> {
  try {
    await using file = await open(join(folder, stateFile));
    const { size } = await file.stat();
    const { buffer } = await file.read(Buffer.alloc(DIGEST_BYTES), 0, DIGEST_BYTES, size - DIGEST_BYTES);
    if (buffer.toString("hex") !== digest) return false;
    for (const { name, bytes } of segments) if ((await stat(join(folder, name))).size < bytes) return false;
    return true;
  } catch {
    return false;
  }
}

/** Adds the rows that are not in segments yet; the newest one is in the state. */
async function writeSegments(
  { rows, firstRow, lanes }: Snapshot,
  known: WrittenFolder | null,
  withSegment: WithSegment,
): Promise<Pick<WrittenFolder, "segments" | "hash">> {
  const segments = (known?.segments ?? []).filter((one) => one.firstRow + one.rowCount > firstRow);
  let hash = segments.length > 0 ? known!.hash : null;
  const end = firstRow + rows.length - 1;
  for (;;) {
    const last = segments.at(-1);
    let next = last ? last.firstRow + last.rowCount : firstRow;
    if (next >= end) return { segments, hash };
    const goesOn = last !== undefined && last.bytes < SEGMENT_BYTES;
    const newSegment = { name: `rows-${randomBytes(8).toString("hex")}`, bytes: 0, firstRow: next };
    const { name, bytes, firstRow: first } = goesOn ? segments.pop()! : newSegment;
    await withSegment(name, bytes, async (put) => {
      const out = new HashedOutput(put, bytes, goesOn ? hash!.copy() : createHash("sha256"));
      while (next < end && out.bytes < SEGMENT_BYTES)
        await out.add(rowPieces(rows[next++ - firstRow]!, lanes));
      hash = await out.end();
      const digest = hash.copy().digest("hex");
      segments.push({ name, bytes: out.bytes, digest, firstRow: first, rowCount: next - first });
    });
  }
}

/** @returns its digest */
async function writeState(snapshot: Snapshot, segments: readonly Segment[], put: Put): Promise<string> {
  const out = new HashedOutput(put);
  await out.add(statePieces(snapshot, segments));
  const digest = (await out.end()).digest();
  await put([digest], out.bytes);
  return digest.toString("hex");
}

/** Hashes and writes pieces as they come. */
class HashedOutput {
  readonly #put: Put;
  readonly #hash: Hash;
  #bytes: number;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;

  /** @param bytes that are there already, with their hash */
  constructor(put: Put, bytes = 0, hash = createHash("sha256")) {
    this.#put = put;
    this.#hash = hash;
    this.#bytes = bytes;
  }

  /** All bytes so far. */
  get bytes(): number {
    return this.#bytes + this.#pendingBytes;
  }

  async add(pieces: Iterable<Uint8Array>): Promise<void> {
    for (const piece of pieces) {
      this.#hash.update(piece);
      this.#pending.push(piece);
      this.#pendingBytes += piece.length;
      if (this.#pendingBytes >= BYTES_AT_ONCE) await this.end();
    }
  }

  /** Writes what is pending; the hash is that of all bytes. */
  async end(): Promise<Hash> {
    const [pieces, start] = [this.#pending, this.#bytes];
    this.#bytes = this.bytes;
    this.#pending = [];
    this.#pendingBytes = 0;
    if (pieces.length > 0) await this.#put(pieces, start);
    return this.#hash;
  }
}
