/** Columns of a share over the rows of a slab, as a file that waits to be put beside the columns of others. */
import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import { makeFolders } from "../../files/folders.ts";
import { writeFully } from "../../files/write_fully.ts";
import { columnsMissing } from "../protocol/errors.ts";
import type { ClusterJob } from "../protocol/protocol.ts";
import { chunkBytes, chunkRowCounts } from "./chunk.ts";
import { storing } from "./stored_files.ts";

/** Below the folder of a dataset; readers of datasets skip names that start with `_`. */
export const COLUMNS_FOLDER = "_columns";
/** After each chunk its CRC-32, which begins with the name of the run. */
const CRC_BYTES = 8;

export class ColumnFile {
  readonly path: string;
  readonly #run: string;
  /** Of each chunk. */
  readonly #lengths: readonly number[];
  /** Unique: two executors may write the same file. */
  readonly #temporary: string;
  /** While it is written. */
  #file: FileHandle | null = null;

  constructor({ cut, identity, source }: ClusterJob, dataset: string, share: number, slab: number) {
    const { factors } = cut.shares[share]!;
    this.path = join(dataset, COLUMNS_FOLDER, identity.run, `${slab}-${share}.columns`);
    this.#run = `${identity.run} ${slab} ${share}`;
    this.#lengths = chunkRowCounts(cut, slab).map((rowCount) =>
      chunkBytes({ factors, rowCount, laneCount: source.symbols.length }),
    );
    this.#temporary = `${this.path}.${randomUUID()}.tmp`;
  }

  get bytes(): number {
    return this.#lengths.reduce((sum, length) => sum + length + CRC_BYTES, 0);
  }

  /** Whether a file of its size is there, which got its name when it was whole. */
  isThere(): boolean {
    return statSync(this.path, { throwIfNoEntry: false })?.size === this.bytes;
  }

  /** Whether the whole file is there, as it was written. */
  async isWhole(): Promise<boolean> {
    try {
      for await (const _ of this.chunks());
      return true;
    } catch {
      return false;
    }
  }

  /** Adds the next chunk to a file under a temporary name. @throws ResourceError E442. */
  async append(chunk: Uint8Array): Promise<void> {
    await storing(this.path, async () => {
      if (this.#file === null) await makeFolders(dirname(this.path));
      this.#file ??= await open(this.#temporary, "wx");
      await writeFully(this.#file, [chunk, this.#sum(chunk)]);
    });
  }

  /** Renames the file to its name. @throws ResourceError E442. */
  async commit(): Promise<void> {
    await storing(this.path, async () => {
      await this.#close();
      await rename(this.#temporary, this.path);
    });
  }

  /** Removes an unfinished file; does nothing after `commit`. */
  async abort(): Promise<void> {
    if (this.#file === null) return;
    await this.#close();
    // The failed write is reported instead.
    await rm(this.#temporary, { force: true }).catch(() => {});
  }

  /**
   * The chunks, each valid until the next one.
   *
   * @throws ResourceError E610 if the file is missing or not as it was written: it is removed then.
   */
  async *chunks(): AsyncGenerator<Uint8Array> {
    const missing = columnsMissing(this.path);
    try {
      await using file = await open(this.path);
      if ((await file.stat()).size !== this.bytes) throw missing;
      const buffer = new Uint8Array(Math.max(0, ...this.#lengths) + CRC_BYTES);
      for (const length of this.#lengths) {
        const bytes = buffer.subarray(0, length + CRC_BYTES);
        for (let done = 0; done < bytes.length; ) {
          const { bytesRead } = await file.read(bytes, done);
          if (bytesRead === 0) throw missing;
          done += bytesRead;
        }
        const chunk = bytes.subarray(0, length);
        if (Buffer.compare(bytes.subarray(length), this.#sum(chunk)) !== 0) throw missing;
        yield chunk;
      }
    } catch {
      await rm(this.path, { force: true }).catch(() => {});
      throw missing;
    }
  }

  /** Removes the file once its columns are in a part. */
  async remove(): Promise<void> {
    await storing(this.path, () => rm(this.path, { force: true }));
  }

  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }

  #sum(chunk: Uint8Array): Buffer {
    const sum = Buffer.alloc(CRC_BYTES);
    sum.writeUInt32LE(crc32(chunk, crc32(this.#run)));
    return sum;
  }
}
