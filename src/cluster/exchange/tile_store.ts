/** Tiles as files in a folder that all workers see. */
import { randomUUID } from "node:crypto";
import { closeSync, fstatSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolderSync } from "../../files/folders.ts";
import { isSystemError } from "../../files/system_error.ts";
import { type ColumnRows, fillLanes, type LaneRange, rowsIn, takeLanes } from "../protocol/column_rows.ts";
import { storeFailed, tileMissing } from "../protocol/errors.ts";
import { sealed, sealedBytes, unsealed } from "../protocol/file_seal.ts";
import type { PieceInput, PieceOutput, PieceShape, SeriesRead, TileOutput } from "../protocol/pieces.ts";
import type { ClusterJob } from "../protocol/protocol.ts";
import { ReusedBuffer } from "../protocol/reused_buffer.ts";
import {
  PANEL_STAGE,
  type Piece,
  pieceBytes,
  pieceOffset,
  type Rows,
  rowsOfBlock,
  seriesCount,
  slabName,
  statePath,
  tileBytes,
  tilePath,
} from "../protocol/tiles.ts";
import { OpenTiles, openFile, readWhole } from "./open_tiles.ts";
import { BUFFER_BYTES, TileFile } from "./tile_file.ts";

/** The tiles of a run. A file gets its name when it is complete. */
export class TileStore {
  readonly #job: ClusterJob;
  readonly #folder: string;
  readonly #readBuffer = new ReusedBuffer();
  readonly #writeBuffer = new ReusedBuffer();
  readonly #open = new OpenTiles();
  /** The last slab whose tiles are known to have been removed. */
  #collected = -1;

  constructor(job: ClusterJob, folder: string) {
    this.#job = job;
    this.#folder = folder;
  }

  /** True if all tasks that read the tiles of the slab are done and the tiles have been removed. */
  isCollected(slab: number): boolean {
    this.#updateCollected(slab);
    return slab <= this.#collected;
  }

  /** True if the tile is as this run wrote it, and also its state if the stage has one. */
  has(stage: number, slab: number, part: number): boolean {
    const path = join(this.#folder, tilePath(stage, slab, part));
    const owner = ownerOf(this.#job, tilePath(stage, slab, part));
    if (sealedBytes(path, owner) !== tileBytes(this.#job, stage, slab, part)) return false;
    if (stage === PANEL_STAGE || !this.#job.stages[stage]!.hasState) return true;
    const state = statePath(stage, slab, part);
    return sealedBytes(join(this.#folder, state), ownerOf(this.#job, state)) !== null;
  }

  /** The pieces for a task of a slab. */
  read(slab: number): PieceInput {
    // A deleted file takes space until it is closed.
    this.#updateCollected(slab);
    this.#open.closeUpTo(this.#collected);
    return new StoredPieces(this.#job, this.#folder, this.#open, this.#readBuffer);
  }

  close(): void {
    this.#open.closeAll();
  }

  /** @throws ResourceError E609 if the file cannot be created. */
  create(stage: number, slab: number, part: number): TileOutput {
    const folder = join(this.#folder, slabName(slab));
    orFail(folder, () => makeFolderSync(folder));
    const names = { tile: tilePath(stage, slab, part), state: statePath(stage, slab, part) };
    return new StoredTile(this.#job, this.#folder, names, this.#writeBuffer);
  }

  /** Reads which tiles have been removed, unless those of this slab are known to be. */
  #updateCollected(slab: number): void {
    if (slab > this.#collected) this.#collected = Math.max(this.#collected, readCollected(this.#folder));
  }

  /**
   * Removes the tiles of a slab and the states of the previous slab, which no task reads any more: a repeated task of them
   * does nothing. @throws ResourceError E609.
   */
  free(slab: number): void {
    if (!this.isCollected(slab)) {
      const path = collectedPath(this.#folder);
      writeWhole(path, Buffer.from(String(slab)));
      this.#collected = slab;
    }
    const folder = join(this.#folder, slabName(slab));
    try {
      for (const name of namesIn(folder)) {
        if (!name.endsWith(".state")) rmSync(join(folder, name), { force: true });
      }
      if (slab > 0) removeFolder(join(this.#folder, slabName(slab - 1)));
    } catch (error) {
      throw writeFailure(folder, error);
    }
  }
}

/** Reads pieces from files, only the requested series of each. */
class StoredPieces implements PieceInput {
  bytesRead = 0;
  readonly #job: ClusterJob;
  readonly #folder: string;
  readonly #open: OpenTiles;
  readonly #buffer: ReusedBuffer;

  constructor(job: ClusterJob, folder: string, open: OpenTiles, buffer: ReusedBuffer) {
    this.#job = job;
    this.#folder = folder;
    this.#open = open;
    this.#buffer = buffer;
  }

  /** @throws ResourceError E610 if the file is missing or too short. */
  read(piece: Piece, rows: Rows, reads: readonly SeriesRead[], lanes: LaneRange): void {
    const width = this.#job.partition.shardLanes;
    const rowBytes = width * Float64Array.BYTES_PER_ELEMENT;
    const seriesBytes = pieceBytes(this.#job, piece) / seriesCount(this.#job, piece.stage);
    const start = pieceOffset(this.#job, piece) + rows.first * rowBytes;
    const readBytes = (rows.end - rows.first) * rowBytes;
    // Series are contiguous in the file only if all their rows are read.
    const together = readBytes === seriesBytes ? Math.floor(BUFFER_BYTES / Math.max(1, readBytes)) : 1;
    for (const [first, end] of runs(reads, together)) {
      const chunk = this.#buffer.bytes((end - first) * readBytes);
      this.#read(piece, chunk, start + reads[first]!.series * seriesBytes);
      for (let index = first; index < end; index++) {
        const length = readBytes / Float64Array.BYTES_PER_ELEMENT;
        const values = new Float64Array(chunk.buffer, (index - first) * readBytes, length);
        fillLanes(reads[index]!.target, lanes, { values, width });
      }
    }
  }

  /** @throws ResourceError E610 if the file is missing or too short. */
  presence(piece: Piece): Uint8Array {
    const { first, end } = rowsOfBlock(this.#job.partition, piece.slab, piece.part);
    const target = this.#buffer.bytes((end - first) * this.#job.partition.laneCount);
    this.#read(piece, target, pieceOffset(this.#job, piece));
    return target;
  }

  /** @throws ResourceError E610 if the file is missing, or not as this run wrote it. */
  state({ stage, slab, part }: Piece): Uint8Array {
    const name = statePath(stage, slab, part);
    const path = join(this.#folder, name);
    const fd = openFile(path);
    try {
      const target = this.#buffer.bytes(fstatSync(fd).size);
      readWhole(path, fd, target, 0);
      const state = unsealed(target, ownerOf(this.#job, name));
      if (state === null) throw tileMissing(path);
      this.bytesRead += state.length;
      return state;
    } finally {
      closeSync(fd);
    }
  }

  #read({ stage, slab, part }: Piece, target: Uint8Array, position: number): void {
    const path = join(this.#folder, tilePath(stage, slab, part));
    this.#open.read(path, slab, target, position);
    this.bytesRead += target.length;
  }
}

/** Paths in the folder of the run. */
interface TileNames {
  readonly tile: string;
  readonly state: string;
}

/** Writes a tile under a temporary name, then renames it. */
class StoredTile implements TileOutput {
  bytesWritten = 0;
  readonly #job: ClusterJob;
  readonly #folder: string;
  readonly #names: TileNames;
  readonly #path: string;
  readonly #temporary: string;
  readonly #file: TileFile;
  /** Where the next piece starts. */
  #end = 0;
  #isFinished = false;

  constructor(job: ClusterJob, folder: string, names: TileNames, buffer: ReusedBuffer) {
    this.#job = job;
    this.#folder = folder;
    this.#names = names;
    this.#path = join(folder, names.tile);
    this.#temporary = temporaryName(this.#path);
    this.#file = orFail(this.#path, () => new TileFile(this.#temporary, buffer));
  }

  addPiece({ seriesCount, rowCount, laneCount }: PieceShape): PieceOutput {
    const start = this.#end;
    const bytesOf = (rows: number) => rows * laneCount * Float64Array.BYTES_PER_ELEMENT;
    this.#end += seriesCount * bytesOf(rowCount);
    return {
      write: (row: number, columns: readonly ColumnRows[], lanes: LaneRange) => {
        columns.forEach((column, series) => {
          const rows = rowsIn(column);
          const position = start + bytesOf(series * rowCount + row);
          const values = orFail(this.#path, () => this.#file.valuesAt(position, rows * laneCount));
          takeLanes(column, lanes, { values, width: laneCount });
          this.bytesWritten += values.byteLength;
        });
      },
    };
  }

  addPresence(present: Uint8Array): void {
    orFail(this.#path, () => this.#file.write(this.#end, present));
    this.#end += present.length;
    this.bytesWritten += present.length;
  }

  addState(state: Uint8Array): void {
    const { state: name } = this.#names;
    writeWhole(join(this.#folder, name), sealed(state, ownerOf(this.#job, name)));
    this.bytesWritten += state.length;
  }

  finish(): readonly Uint8Array[] {
    orFail(this.#path, () => {
      this.#file.finish(this.#end, ownerOf(this.#job, this.#names.tile));
      renameSync(this.#temporary, this.#path);
    });
    this.#isFinished = true;
    return [];
  }

  abort(): void {
    if (this.#isFinished) return;
    this.#file.close();
    removeLeftOver(this.#temporary);
  }
}

/** Ranges of at most `lengthMax` reads whose series are consecutive. */
function* runs(
  reads: readonly SeriesRead[],
  lengthMax: number,
): Generator<readonly [first: number, end: number]> {
  let first = 0;
  for (let end = 1; end <= reads.length; end++) {
    const follows = end < reads.length && reads[end]!.series === reads[end - 1]!.series + 1;
    if (follows && end - first < lengthMax) continue;
    yield [first, end];
    first = end;
  }
}

/** Writes a file under a temporary name, then renames it. @throws ResourceError E609. */
export function writeWhole(path: string, bytes: Uint8Array): void {
  const temporary = temporaryName(path);
  try {
    writeFileSync(temporary, bytes, { flag: "wx" });
    renameSync(temporary, path);
  } catch (error) {
    removeLeftOver(temporary);
    throw writeFailure(path, error);
  }
}

/** The owner in the seal of a file of the run. */
export function ownerOf({ identity }: Pick<ClusterJob, "identity">, name: string): string {
  return `${identity.seal}/${name}`;
}

const collectedPath = (folder: string) => join(folder, "collected");

/** The last slab that was freed; -1 for none. */
function readCollected(folder: string): number {
  try {
    return Number(readFileSync(collectedPath(folder), "utf8"));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return -1;
    throw error;
  }
}

/** Removes a folder. On NFS, open files stay in it; then the end of the run removes it. */
function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    if (!["EBUSY", "ENOTEMPTY"].includes(codeOf(error) ?? "")) throw error;
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

/** Runs work on a file. @throws ResourceError E609 for an error of the system. */
export function orFail<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw writeFailure(path, error);
  }
}

/** Removes an unfinished file, if that is possible. */
export function removeLeftOver(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The failed write is reported instead.
  }
}

/** Turns an error of the system into E609, which names the file. */
export function writeFailure(path: string, error: unknown): unknown {
  return isSystemError(error) ? Object.assign(storeFailed(path, error.message), { cause: error }) : error;
}

/** The code of an error of the system, such as ENOSPC. */
function codeOf(error: unknown): string | undefined {
  return isSystemError(error) ? error.code : undefined;
}

/** A unique name in the same folder: two executors may write the same tile. */
export function temporaryName(path: string): string {
  return `${path}.${randomUUID()}.tmp`;
}
