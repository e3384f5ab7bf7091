/** Columns of a share over the rows of a slab, as a file that waits to be put beside the columns of others. */
import { closeSync, fstatSync, openSync, readSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import { makeFolderSync } from "../../files/folders.ts";
import { columnsMissing } from "../protocol/errors.ts";
import type { ClusterJob } from "../protocol/protocol.ts";
import { chunkBytes, chunkRowCounts } from "./chunk.ts";
import { orStoreFailed, removeLeftOver, temporaryName } from "./stored_files.ts";

/** Below the folder of a dataset; readers of datasets skip names that start with `_`. */
export const COLUMNS_FOLDER = "_columns";
/** After each chunk its CRC-32, which begins with the name of the run. */
const CRC_BYTES = 8;

export class ColumnFile {
  readonly path: string;
  readonly #run: string;
  /** Of each chunk. */
  readonly #lengths: readonly number[];
  readonly #temporary: string;
  #descriptor: number | null = null;

  constructor({ cut, identity, source }: ClusterJob, dataset: string, share: number, slab: number) {
    const { factors } = cut.shares[share]!;
    this.path = join(dataset, COLUMNS_FOLDER, identity.run, `${slab}-${share}.columns`);
    this.#run = `${identity.run} ${slab} ${share}`;
    this.#lengths = chunkRowCounts(cut, slab).map((rowCount) =>
      chunkBytes({ factors, rowCount, laneCount: source.symbols.length }),
    );
    this.#temporary = temporaryName(this.path);
  }

  get bytes(): number {
    return this.#lengths.reduce((sum, length) => sum + length + CRC_BYTES, 0);
  }

  /** Whether a file of its size is there, which got its name when it was whole. */
  isThere(): boolean {
    return statSync(this.path, { throwIfNoEntry: false })?.size === this.bytes;
  }

  /** Whether the whole file is there, as it was written. */
  isWhole(): boolean {
    try {
      for (const _ of this.chunks());
      return true;
    } catch {
      return false;
    }
  }

  /** Adds the next chunk to a file under a temporary name. @throws ResourceError E442. */
  append(chunk: Uint8Array): void {
    orStoreFailed(this.path, () => {
      if (this.#descriptor === null)
        for (const folder of [dirname(dirname(this.path)), dirname(this.path)]) makeFolderSync(folder);
      this.#descriptor ??= openSync(this.#temporary, "wx");
      for (const bytes of [chunk, this.#sum(chunk)])
        for (let done = 0; done < bytes.length; ) done += writeSync(this.#descriptor, bytes, done);
    });
  }

  /** Renames the file to its name. @throws ResourceError E442. */
  commit(): void {
    orStoreFailed(this.path, () => {
      this.#close();
      renameSync(this.#temporary, this.path);
    });
  }

  /** Removes an unfinished file; does nothing after `commit`. */
  abort(): void {
    if (this.#descriptor === null) return;
    this.#close();
    removeLeftOver(this.#temporary);
  }

  /**
   * The chunks, each valid until the next one.
   *
   * @throws ResourceError E610 if the file is missing or not as it was written: it is removed then.
   */
  *chunks(): Generator<Uint8Array> {
    let descriptor: number;
    try {
      descriptor = openSync(this.path, "r");
    } catch {
      throw columnsMissing(this.path);
    }
    try {
      if (fstatSync(descriptor).size !== this.bytes) throw columnsMissing(this.path);
      const buffer = new Uint8Array(Math.max(0, ...this.#lengths) + CRC_BYTES);
      for (const length of this.#lengths) {
        const bytes = buffer.subarray(0, length + CRC_BYTES);
        for (let done = 0; done < bytes.length; ) {
          const count = readSync(descriptor, bytes, done, bytes.length - done, null);
          if (count === 0) throw columnsMissing(this.path);
          done += count;
        }
        const chunk = bytes.subarray(0, length);
        if (Buffer.compare(bytes.subarray(length), this.#sum(chunk)) !== 0) throw columnsMissing(this.path);
        yield chunk;
      }
    } catch {
      removeLeftOver(this.path);
      throw columnsMissing(this.path);
    } finally {
      closeSync(descriptor);
    }
  }

  /** Removes the file once its columns are in a part. */
  remove(): void {
    orStoreFailed(this.path, () => rmSync(this.path, { force: true }));
  }

  #close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  #sum(chunk: Uint8Array): Buffer {
    const sum = Buffer.alloc(CRC_BYTES);
    sum.writeUInt32LE(crc32(chunk, crc32(this.#run)));
    return sum;
  }
}
