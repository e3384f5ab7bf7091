import { createHash, type Hash, randomBytes } from "node:crypto";
import { type FileHandle, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { makeDurableFolder, syncFolder } from "../files/durable.ts";
import { replaceFileBy } from "../files/pending_file.ts";
import { writeFully } from "../files/write_fully.ts";
import { writing } from "../files/writing.ts";
import { Pauses } from "../steps.ts";
import { paddedText } from "./byte_reader.ts";
import { type LaneRow, type RowSchema, rowPieces, schemaFor } from "./lane_rows.ts";
import { readStart, type Segment, type State, statePieces } from "./state_file.ts";

/** Names the segments and holds everything but their rows. A folder holds a checkpoint once it has it. */
export const STATE_FILE = "state";
const SEGMENT_NAME = /^rows-[0-9a-f]{16}$/;
/** A segment takes rows until it has as many bytes; it is deleted when all its rows are too old. */
const SEGMENT_BYTES = 8 * 2 ** 20;
/** Bytes that are hashed and written at a time: the main thread does nothing else meanwhile. */
const BYTES_AT_ONCE = 2 ** 18;

/** What a checkpoint is made of; nothing of it may change until it is written. */
export interface Snapshot extends State<unknown> {
  /** Of the vectors of the points: see `statePieces`. */
  readonly laneCount: number;
  /** All kept rows but the newest, from `firstRow` on. */
  readonly rows: readonly LaneRow[];
}

/** What a folder holds: the next checkpoint of the same rows continues it. */
export interface WrittenFolder {
  readonly id: string;
  readonly segments: readonly Segment[];
  /** The last segment, if it may take more rows. */
  readonly last: { readonly schema: RowSchema; readonly hash: Hash } | null;
}

const NOTHING: WrittenFolder = { id: "", segments: [], last: null };

/** Takes the bytes of a segment one after the other. */
interface Sink {
  write(pieces: readonly Uint8Array[]): Promise<void>;
  /** After this they survive a loss of power. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Writes a checkpoint into a folder, which is made if it is missing: rows that it does not have yet behind those that it
 * has, then the state, which is renamed over the former one. A crash at any moment leaves the former checkpoint or the new
 * one. One session at a time may write to a folder.
 *
 * @param known what the folder had when these rows were last written there or read from there
 * @throws ResourceError E442 if the folder cannot be written; its former checkpoint stays whole.
 */
export async function writeFolder(
  folder: string,
  snapshot: Snapshot,
  known: WrittenFolder = NOTHING,
): Promise<WrittenFolder> {
  return await writing(folder, async () => {
    await makeDurableFolder(folder);
    const before = (await isAsKnown(folder, known)) ? known : NOTHING;
    const { segments, last } = await writeSegments(snapshot, before, async (name, at) => {
      return await fileSink(join(folder, name), at);
    });
    await syncFolder(folder);
    const id = newId();
    await replaceFileBy(join(folder, STATE_FILE), async (handle) => {
      await writeState(snapshot, id, segments, async (pieces) => await writeFully(handle, pieces));
    });
    await syncFolder(folder);
    await removeOthers(folder, segments);
    return { id, segments, last };
  });
}

/** The same parts as bytes: the state, then the segments. */
export async function checkpointBytes(snapshot: Snapshot): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  const collect = async (pieces: readonly Uint8Array[]) => {
    parts.push(...pieces);
    await pauses.afterStep();
  };
  const pauses = new Pauses();
  const { segments } = await writeSegments(snapshot, NOTHING, async () => {
    return { write: collect, sync: async () => {}, close: async () => {} };
  });
  const rowParts = parts.splice(0);
  await writeState(snapshot, newId(), segments, collect);
  const all = [...parts, ...rowParts];
  const bytes = new Uint8Array(all.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of all) {
    bytes.set(part, at);
    at += part.length;
    await pauses.afterStep();
  }
  return bytes;
}

/** Whether nobody else has written to the folder, and its segments are still there. */
async function isAsKnown(folder: string, { id, segments }: WrittenFolder): Promise<boolean> {
  if (id === "") return false;
  try {
    await using file = await open(join(folder, STATE_FILE));
    const { buffer } = await file.read(new Uint8Array(64), 0, 64, 0);
    if (readStart(buffer, null).id !== id) return false;
    for (const { name, bytes } of segments) if ((await stat(join(folder, name))).size < bytes) return false;
    return true;
  } catch {
    // Then it is written whole.
    return false;
  }
}

/** Adds the rows that are not in segments yet. */
async function writeSegments(
  { rows, firstRow, lanes }: Snapshot,
  before: WrittenFolder,
  openSink: (name: string, at: number) => Promise<Sink>,
): Promise<Omit<WrittenFolder, "id">> {
  const segments = before.segments.filter((one) => one.firstRow + one.rowCount > firstRow);
  let last = segments.length > 0 ? before.last : null;
  let writer: SegmentWriter | null = null;
  const end = async () => {
    if (writer === null) return;
    const ended = await writer.end();
    await writer.close();
    segments.push(ended.segment);
    last = ended.last;
    writer = null;
  };
  const newest = segments.at(-1);
  const written = newest ? newest.firstRow + newest.rowCount : firstRow;
  try {
    for (const [index, row] of rows.slice(written - firstRow).entries()) {
      const schema: RowSchema = schemaFor(row, lanes, writer?.schema ?? last?.schema ?? null);
      if (writer && (writer.schema !== schema || writer.bytes >= SEGMENT_BYTES)) await end();
      if (writer === null) {
        const goesOn = last?.schema === schema && segments.at(-1)!.bytes < SEGMENT_BYTES;
        const segment = goesOn ? segments.pop()! : newSegment(written + index);
        const hash = goesOn ? last!.hash.copy() : createHash("sha256");
        writer = new SegmentWriter(schema, segment, hash, await openSink(segment.name, segment.bytes));
      }
      await writer.add(row);
    }
    await end();
    return { segments, last };
  } finally {
    await writer?.close();
  }
}

/** Hashes and writes pieces as they come. */
class HashedWriter {
  readonly hash: Hash;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  readonly #write: Sink["write"];

  constructor(hash: Hash, write: Sink["write"]) {
    this.hash = hash;
    this.#write = write;
  }

  async add(piece: Uint8Array): Promise<void> {
    this.hash.update(piece);
    this.#pending.push(piece);
    this.#pendingBytes += piece.length;
    if (this.#pendingBytes >= BYTES_AT_ONCE) await this.flush();
  }

  async flush(): Promise<void> {
    const pieces = this.#pending;
    this.#pending = [];
    this.#pendingBytes = 0;
    if (pieces.length > 0) await this.#write(pieces);
  }
}

class SegmentWriter {
  readonly schema: RowSchema;
  readonly #segment: Omit<Segment, "digest">;
  readonly #sink: Sink;
  readonly #out: HashedWriter;
  #bytes: number;
  #rowCount: number;

  /** @param hash of the bytes that the segment has already */
  constructor(schema: RowSchema, segment: Omit<Segment, "digest">, hash: Hash, sink: Sink) {
    this.schema = schema;
    this.#segment = segment;
    this.#sink = sink;
    this.#out = new HashedWriter(hash, sink.write);
    this.#bytes = segment.bytes;
    this.#rowCount = segment.rowCount;
  }

  get bytes(): number {
    return this.#bytes;
  }

  async add(row: LaneRow): Promise<void> {
    if (this.#bytes === 0) await this.#add(paddedText(JSON.stringify(this.schema)));
    for (const piece of rowPieces(row, this.schema)) await this.#add(piece);
    this.#rowCount++;
  }

  async #add(piece: Uint8Array): Promise<void> {
    this.#bytes += piece.length;
    await this.#out.add(piece);
  }

  async end(): Promise<{ readonly segment: Segment; readonly last: NonNullable<WrittenFolder["last"]> }> {
    await this.#out.flush();
    await this.#sink.sync();
    const { hash } = this.#out;
    const digest = hash.copy().digest("hex");
    const segment = { ...this.#segment, bytes: this.#bytes, rowCount: this.#rowCount, digest };
    return { segment, last: { schema: this.schema, hash } };
  }

  async close(): Promise<void> {
    await this.#sink.close();
  }
}

async function writeState(
  snapshot: Snapshot,
  id: string,
  segments: readonly Segment[],
  write: Sink["write"],
): Promise<void> {
  const out = new HashedWriter(createHash("sha256"), write);
  for (const piece of statePieces(snapshot, snapshot.laneCount, id, segments)) await out.add(piece);
  await out.flush();
  await write([out.hash.digest()]);
}

/** @param at bytes that the file has: what lies behind them is of a checkpoint that was not completed */
async function fileSink(path: string, at: number): Promise<Sink> {
  const handle: FileHandle = await open(path, at === 0 ? "wx" : "r+");
  let position = at;
  return {
    write: async (pieces) => {
      await writeFully(handle, pieces, position);
      for (const { length } of pieces) position += length;
    },
    sync: async () => await handle.sync(),
    close: async () => await handle.close(),
  };
}

/** Deletes segments that the state does not name. */
async function removeOthers(folder: string, segments: readonly Segment[]): Promise<void> {
  const named = new Set(segments.map(({ name }) => name));
  const names = (await readdir(folder)).filter((name) => SEGMENT_NAME.test(name) && !named.has(name));
  await Promise.all(names.map((name) => rm(join(folder, name), { force: true })));
}

function newSegment(firstRow: number): Omit<Segment, "digest"> {
  return { name: `rows-${newId()}`, bytes: 0, firstRow, rowCount: 0 };
}

function newId(): string {
  return randomBytes(8).toString("hex");
}
