import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { FactorBlock } from "../../data/factors/factor_batches.ts";
import { isGatheredByClient } from "../cut/task_graph.ts";
import { TileStore } from "../exchange/tile_store.ts";
import { tileMissing } from "../protocol/errors.ts";
import type { ClusterJob } from "../protocol/protocol.ts";
import { type Rows, resultPath } from "../protocol/tiles.ts";
import { FactorColumns, type FactorRows, gatherFactors, rowsOfOutput } from "./output_block.ts";

/** Bytes of a result file that are read at a time, about. */
const CHUNK_BYTES = 64 * 2 ** 20;

/** Reads results on the client: from the buffers of a task, from tiles, or from the file of an independent slab. */
export class ResultReader {
  readonly #job: ClusterJob;
  readonly #store: TileStore | null;
  readonly #columns: FactorColumns;

  constructor(job: ClusterJob) {
    this.#job = job;
    this.#store = isGatheredByClient(job) ? new TileStore(job, job.folder!) : null;
    this.#columns = new FactorColumns(job);
  }

  /**
   * The factors of a block, or of an independent slab, in the output rows. A block is valid until the next one is
   * requested; the file of a slab is removed after its last rows.
   *
   * @throws ResourceError E610 if a file is missing or truncated, before any block.
   */
  async *read(
    slab: number,
    block: number,
    rows: Rows,
    buffers: readonly Uint8Array[],
  ): AsyncGenerator<FactorBlock> {
    const { first, end } = rowsOfOutput(this.#job, rows);
    if (first >= end) return;
    const { folder, warmUpRows } = this.#job;
    if (this.#store) yield this.#gathered(this.#store, slab, block);
    else if (folder === null || warmUpRows === null) yield this.#held({ first, end }, buffers);
    else yield* this.#readFile(join(folder, resultPath(slab)), { first, end });
  }

  #gathered(store: TileStore, slab: number, block: number): FactorBlock {
    try {
      return this.#block(gatherFactors(this.#job, { slab, block }, store.read(slab), this.#columns));
    } finally {
      store.close();
    }
  }

  async *#readFile(path: string, { first, end }: Rows): AsyncGenerator<FactorBlock> {
    const { laneCount } = this.#job.partition;
    const columns = this.#job.factors.filter(({ origin }) => origin !== null);
    const widths = [...columns.map(() => Float64Array.BYTES_PER_ELEMENT), 1].map(
      (bytes) => bytes * laneCount,
    );
    const rowBytes = widths.reduce((sum, bytes) => sum + bytes, 0);
    const chunkRows = Math.max(1, Math.min(end - first, Math.floor(CHUNK_BYTES / rowBytes)));
    const buffers = widths.map((bytes) => new Uint8Array(chunkRows * bytes));
    const file = await open(path).catch(() => {
      throw tileMissing(path);
    });
    try {
      // Before the first block: a run that starts again must not repeat rows.
      if ((await file.stat()).size <= (end - first) * rowBytes) throw tileMissing(path);
      for (let row = first; row < end; row += chunkRows) {
        const rows = { first: row, end: Math.min(end, row + chunkRows) };
        const count = rows.end - row;
        let start = 0;
        for (const [column, bytes] of widths.entries()) {
          await readWhole(
            file,
            path,
            buffers[column]!.subarray(0, count * bytes),
            start + (row - first) * bytes,
          );
          start += (end - first) * bytes;
        }
        yield this.#held(
          rows,
          buffers.map((buffer, column) => buffer.subarray(0, count * widths[column]!)),
        );
      }
    } finally {
      await file.close();
    }
    await rm(path, { force: true });
  }

  /** @param buffers as `resultBuffers` returns them */
  #held(rows: Rows, buffers: readonly Uint8Array[]): FactorBlock {
    const values = buffers.slice(0, -1).values();
    const columns = this.#job.factors.map(({ origin }) => {
      if (origin === null) return null;
      const { buffer, byteOffset, byteLength } = values.next().value!;
      return new Float64Array(buffer, byteOffset, byteLength / Float64Array.BYTES_PER_ELEMENT);
    });
    return this.#block({ rows, columns, present: buffers.at(-1)! });
  }

  #block({ rows: { first, end }, columns, present }: FactorRows): FactorBlock {
    return {
      rowCount: end - first,
      times: this.#job.source.time.values.subarray(first, end),
      present,
      columns: new Map(this.#job.factors.map(({ name }, factor) => [name, columns[factor]!])),
    };
  }
}

async function readWhole(
  file: FileHandle,
  path: string,
  target: Uint8Array,
  position: number,
): Promise<void> {
  for (let done = 0; done < target.length; ) {
    const { bytesRead } = await file.read(target, done, target.length - done, position + done);
    if (bytesRead === 0) throw tileMissing(path);
    done += bytesRead;
  }
}
