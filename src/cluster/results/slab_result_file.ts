import { renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolderSync } from "../../files/folders.ts";
import { TileFile } from "../exchange/tile_file.ts";
import { orFail, ownerOf, removeLeftOver, temporaryName } from "../exchange/tile_store.ts";
import { sealedBytes } from "../protocol/file_seal.ts";
import type { ClusterJob } from "../protocol/protocol.ts";
import { ReusedBuffer } from "../protocol/reused_buffer.ts";
import { type Rows, resultPath } from "../protocol/tiles.ts";
import type { FactorRows } from "./output_block.ts";
import type { ResultOutcome, ResultTarget } from "./result_target.ts";

/**
 * The result of an independent slab in the store, which the client reads: the factors that have values, `[rows x lanes]`
 * each, then presence. Rows come block by block, so that a result may be larger than memory.
 */
export class ResultFile implements ResultTarget {
  #bytesWritten = 0;
  readonly #path: string;
  readonly #owner: string;
  readonly #rows: Rows;
  readonly #laneCount: number;
  readonly #columnCount: number;
  readonly #temporaryPath: string;
  #file: TileFile | null = null;

  /** @param rows the output rows of the slab */
  constructor(job: ClusterJob, folder: string, slab: number, rows: Rows) {
    this.#path = join(folder, resultPath(slab));
    this.#owner = ownerOf(job, resultPath(slab));
    this.#rows = rows;
    this.#laneCount = job.partition.laneCount;
    this.#columnCount = job.factors.filter(({ origin }) => origin !== null).length;
    this.#temporaryPath = temporaryName(this.#path);
  }

  done(): ResultOutcome | null {
    return sealedBytes(this.#path, this.#owner) === this.#bytes ? {} : null;
  }

  /** @throws ResourceError E609. */
  append({ rows, columns, present }: FactorRows): void {
    const skipped = (rows.first - this.#rows.first) * this.#laneCount;
    let index = 0;
    for (const column of columns) {
      if (column === null) continue;
      const bytes = new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
      this.#write(bytes, this.#start(index++) + skipped * Float64Array.BYTES_PER_ELEMENT);
    }
    this.#write(present, this.#start(index) + skipped);
  }

  /** @throws ResourceError E609. */
  async commit(): Promise<ResultOutcome> {
    orFail(this.#path, () => {
      this.#open().finish(this.#bytes, this.#owner);
      this.#file = null;
      renameSync(this.#temporaryPath, this.#path);
    });
    return { bytesWritten: this.#bytesWritten };
  }

  async abort(): Promise<void> {
    if (this.#file === null) return;
    this.#file.close();
    this.#file = null;
    removeLeftOver(this.#temporaryPath);
  }

  get #cells(): number {
    return (this.#rows.end - this.#rows.first) * this.#laneCount;
  }

  get #bytes(): number {
    return this.#start(this.#columnCount) + this.#cells;
  }

  #start(column: number): number {
    return column * this.#cells * Float64Array.BYTES_PER_ELEMENT;
  }

  #open(): TileFile {
    if (this.#file === null) {
      makeFolderSync(dirname(this.#path));
      this.#file = new TileFile(this.#temporaryPath, new ReusedBuffer());
    }
    return this.#file;
  }

  #write(bytes: Uint8Array, position: number): void {
    if (bytes.length === 0) return;
    orFail(this.#path, () => this.#open().write(position, bytes));
    this.#bytesWritten += bytes.length;
  }
}
