/** Tiles as files below a folder that all workers see. */
import { randomUUID } from "node:crypto";
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { storeFailed, tileMissing } from "./errors.ts";
import type { PieceInput, TileOutput } from "./pieces.ts";
import type { ClusterJob } from "./protocol.ts";
import { ReusedBuffer } from "./reused_buffer.ts";
import { isWholeState, STATE_HEADER_BYTES } from "./stage_state.ts";
import {
  PANEL,
  type Piece,
  pieceBytes,
  pieceOffset,
  rowsOfBlock,
  seriesCount,
  slabFolder,
  statePath,
  tileBytes,
  tilePath,
} from "./tiles.ts";

/** The tiles of a run. Files get their names when they are complete, so that a file that is there is whole. */
export class TileStore {
  readonly #job: ClusterJob;
  readonly #folder: string;
  readonly #readRoom = new ReusedBuffer();
  readonly #writeRoom = new ReusedBuffer();
  /** Number of the last slab whose tiles are known to be taken away. */
  #collected = -1;

  constructor(job: ClusterJob, folder: string) {
    this.#job = job;
    this.#folder = folder;
  }

  /** True if all that depends on the tiles of the slab is done, and they are taken away. */
  isCollected(slab: number): boolean {
    if (slab > this.#collected) this.#collected = Math.max(this.#collected, readCollected(this.#folder));
    return slab <= this.#collected;
  }

  /** True if the tile is there, and the state beside it if its stage has any. */
  has(stage: number, slab: number, part: number): boolean {
    const path = join(this.#folder, tilePath(stage, slab, part));
    const status = statSync(path, { throwIfNoEntry: false });
    if (status?.size !== tileBytes(this.#job, stage, slab, part)) return false;
    if (stage === PANEL || !this.#job.stages[stage]!.hasState) return true;
    return hasState(join(this.#folder, statePath(stage, slab, part)));
  }

  read(): PieceInput {
    return new StoredPieces(this.#job, this.#folder, this.#readRoom);
  }

  /** @throws ResourceError E609 if no file can be made. */
  create(stage: number, slab: number, part: number): TileOutput {
    try {
      mkdirSync(join(this.#folder, slabFolder(slab)));
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw writeFailure(join(this.#folder, slabFolder(slab)), error);
    }
    const path = join(this.#folder, tilePath(stage, slab, part));
    return new StoredTile(path, join(this.#folder, statePath(stage, slab, part)), this.#writeRoom);
  }

  /**
   * Takes away the tiles of a slab and the states of the slab before it, that no task reads any more: from now on they
   * are done without work. @throws ResourceError E609.
   */
  free(slab: number): void {
    if (!this.isCollected(slab)) {
      const path = collectedPath(this.#folder);
      writeWhole(path, Buffer.from(String(slab)));
      this.#collected = slab;
    }
    const folder = join(this.#folder, slabFolder(slab));
    try {
      for (const name of namesIn(folder)) {
        if (!name.endsWith(".state")) rmSync(join(folder, name), { force: true });
      }
      if (slab > 0) rmSync(join(this.#folder, slabFolder(slab - 1)), { recursive: true, force: true });
    } catch (error) {
      throw writeFailure(folder, error);
    }
  }
}

/** Reads pieces of files, of each only the series asked for. */
class StoredPieces implements PieceInput {
  bytesRead = 0;
  readonly #job: ClusterJob;
  readonly #folder: string;
  readonly #room: ReusedBuffer;
  /** The tile of each stage that was read last: a task of lanes reads all blocks of one file. */
  readonly #open = new Map<number, { readonly path: string; readonly fd: number }>();

  constructor(job: ClusterJob, folder: string, room: ReusedBuffer) {
    this.#job = job;
    this.#folder = folder;
    this.#room = room;
  }

  /** @throws ResourceError E610 if the file is missing or too short. */
  values(piece: Piece, series: readonly number[]): Float64Array[] {
    const seriesBytes = pieceBytes(this.#job, piece) / seriesCount(this.#job, piece.stage);
    const start = pieceOffset(this.#job, piece);
    const room = this.#room.bytes(series.length * seriesBytes);
    for (const [first, end] of adjacent(series)) {
      const target = room.subarray(first * seriesBytes, end * seriesBytes);
      this.#read(piece, target, start + series[first]! * seriesBytes);
    }
    return series.map((_, index) => {
      const length = seriesBytes / Float64Array.BYTES_PER_ELEMENT;
      return new Float64Array(room.buffer, index * seriesBytes, length);
    });
  }

  /** @throws ResourceError E610 if the file is missing or too short. */
  presence(piece: Piece): Uint8Array {
    const { first, end } = rowsOfBlock(this.#job.partition, piece.slab, piece.part);
    const target = this.#room.bytes((end - first) * this.#job.partition.laneCount);
    this.#read(piece, target, pieceOffset(this.#job, piece));
    return target;
  }

  /** @throws ResourceError E610 if the file is missing or too short. */
  state({ stage, slab, part }: Piece): Uint8Array {
    const path = join(this.#folder, statePath(stage, slab, part));
    const fd = openTile(path);
    try {
      const target = this.#room.bytes(fstatSync(fd).size);
      readWhole(path, fd, target, 0);
      if (!isWholeState(target, target.length)) throw tileMissing(path);
      this.bytesRead += target.length;
      return target;
    } finally {
      closeSync(fd);
    }
  }

  close(): void {
    for (const { fd } of this.#open.values()) closeSync(fd);
    this.#open.clear();
  }

  #read({ stage, slab, part }: Piece, target: Uint8Array, position: number): void {
    const path = join(this.#folder, tilePath(stage, slab, part));
    let file = this.#open.get(stage);
    if (file?.path !== path) {
      if (file) closeSync(file.fd);
      this.#open.delete(stage);
      file = { path, fd: openTile(path) };
      this.#open.set(stage, file);
    }
    readWhole(path, file.fd, target, position);
    this.bytesRead += target.length;
  }
}

/** Writes a tile under a name of its own, then gives it its name. */
class StoredTile implements TileOutput {
  bytesWritten = 0;
  readonly #path: string;
  readonly #statePath: string;
  readonly #temporary: string;
  readonly #room: ReusedBuffer;
  #fd: number | null;
  #isFinished = false;

  constructor(path: string, statePath: string, room: ReusedBuffer) {
    this.#path = path;
    this.#statePath = statePath;
    this.#temporary = temporaryName(path);
    this.#room = room;
    this.#fd = orFail(path, () => openSync(this.#temporary, "wx"));
  }

  addValues(count: number, fill: (values: Float64Array) => void): void {
    const values = this.#room.doubles(count);
    fill(values);
    this.#write(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  }

  addPresence(present: Uint8Array): void {
    this.#write(present);
  }

  addState(state: Uint8Array): void {
    writeWhole(this.#statePath, state);
    this.bytesWritten += state.length;
  }

  finish(): readonly Uint8Array[] {
    orFail(this.#path, () => {
      this.#close();
      renameSync(this.#temporary, this.#path);
    });
    this.#isFinished = true;
    return [];
  }

  abort(): void {
    if (this.#isFinished) return;
    this.#close();
    rmSync(this.#temporary, { force: true });
  }

  #write(bytes: Uint8Array): void {
    orFail(this.#path, () => writeAll(this.#fd!, bytes));
    this.bytesWritten += bytes.length;
  }

  #close(): void {
    if (this.#fd === null) return;
    const fd = this.#fd;
    this.#fd = null;
    closeSync(fd);
  }
}

/** Ranges of places in the list that name one series after the other. */
function* adjacent(series: readonly number[]): Generator<readonly [first: number, end: number]> {
  let first = 0;
  for (let end = 1; end <= series.length; end++) {
    if (end < series.length && series[end] === series[end - 1]! + 1) continue;
    yield [first, end];
    first = end;
  }
}

/** @throws ResourceError E610. */
function openTile(path: string): number {
  try {
    return openSync(path, "r");
  } catch (error) {
    throw errorWithCause(tileMissing(path), error);
  }
}

/** @throws ResourceError E610 if the file ends before. */
function readWhole(path: string, fd: number, target: Uint8Array, position: number): void {
  for (let done = 0; done < target.length; ) {
    const count = readSync(fd, target, done, target.length - done, position + done);
    if (count === 0) throw tileMissing(path);
    done += count;
  }
}

/** Writes a file under a name of its own, then gives it its name. @throws ResourceError E609. */
function writeWhole(path: string, bytes: Uint8Array): void {
  const temporary = temporaryName(path);
  try {
    writeFileSync(temporary, bytes, { flag: "wx" });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw writeFailure(path, error);
  }
}

export function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done);
}

function hasState(path: string): boolean {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch {
    return false;
  }
  try {
    const header = new Uint8Array(STATE_HEADER_BYTES);
    readSync(fd, header, 0, STATE_HEADER_BYTES, 0);
    return isWholeState(header, fstatSync(fd).size);
  } finally {
    closeSync(fd);
  }
}

const collectedPath = (folder: string) => join(folder, "collected");

/** Number of the last slab that was freed; -1 for none. */
function readCollected(folder: string): number {
  try {
    return Number(readFileSync(collectedPath(folder), "utf8"));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return -1;
    throw error;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

function orFail<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw writeFailure(path, error);
  }
}

/** What the system said while a file was written, as an error that names the file. */
export function writeFailure(path: string, error: unknown): unknown {
  if (codeOf(error) === undefined) return error;
  return errorWithCause(storeFailed(path, (error as Error).message), error);
}

function errorWithCause(error: Error, cause: unknown): Error {
  error.cause = cause;
  return error;
}

/** The code of an error of the system, such as ENOSPC. */
function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "syscall" in error ? (error as NodeJS.ErrnoException).code : undefined;
}

/** In the same folder; of two executors that write one tile each has its own. */
function temporaryName(path: string): string {
  return `${path}.${randomUUID()}.tmp`;
}
