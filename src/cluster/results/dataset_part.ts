/** The parts of a Parquet dataset, one file per slab. */
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { FactorBlock } from "../../data/factors/factor_batches.ts";
import type { FactorWriter } from "../../data/write/batch_writer.ts";
import { FactorloomError } from "../../errors.ts";
import { storeFailed } from "../protocol/errors.ts";
import type { ClusterJob, OutputCounts } from "../protocol/protocol.ts";
import { readRecord, storing, writeRecord } from "./stored_files.ts";

/** Names of parts, and of the files with their counts. */
export const PART_NAME = /^\.?part-\d+-.*\.(parquet|json)$/;

/** Name of a part, without extension; contains the name of its run. */
export function partStem({ identity }: Pick<ClusterJob, "identity">, slab: number): string {
  return `part-${String(slab).padStart(6, "0")}-${identity.run}`;
}

/** Errors of writing: a failure of the system, and a folder without permission. */
const NOT_WRITABLE = new Set(["E442", "E544"]);
const READ_BYTES = 2 ** 20;

/**
 * One file of the dataset; no file if the input has no row in its cells. A file beside it, `.part-*.json`, keeps its
 * counts, size and checksum for a task that runs again. A part that differs from them counts as missing.
 */
export class DatasetPart {
  readonly #job: ClusterJob;
  readonly #path: string;
  readonly #countsPath: string;
  readonly #stem: string;
  #writer: FactorWriter | null = null;
  #rowCount = 0;

  constructor(job: ClusterJob, dataset: string, slab: number) {
    this.#job = job;
    this.#stem = partStem(job, slab);
    this.#path = join(dataset, `${this.#stem}.parquet`);
    this.#countsPath = join(dataset, `.${this.#stem}.json`);
  }

  /** The counts of the file if it is as it was written, else null. */
  async done(): Promise<OutputCounts | null> {
    const record = await readRecord<PartRecord>(this.#countsPath, this.#stem).catch(() => null);
    if (record === null) return null;
    const { crc, ...counts } = record;
    if (counts.bytes === 0) return counts;
    const file = await fileSum(this.#path).catch(() => null);
    return file?.bytes === counts.bytes && file.crc === crc ? counts : null;
  }

  /** Adds the next rows. @throws ResourceError E442; as `openFactorWriter`. */
  async append(block: FactorBlock): Promise<void> {
    const count = cellCount(block.present);
    if (count === 0 && this.#writer === null) return;
    this.#rowCount += count;
    await this.#writing(async () => {
      this.#writer ??= await this.#openWriter();
      await this.#writer.append(block);
    });
  }

  /** Renames the file, then its counts: where counts exist, the file does. */
  async commit(): Promise<OutputCounts> {
    const writer = this.#writer;
    const ofFactors = (counts: ReadonlyMap<string, number> | undefined) =>
      this.#job.factors.map((name) => counts?.get(name) ?? 0);
    await this.#writing(async () => await writer?.commit());
    const none = { bytes: 0, crc: 0 };
    const { bytes, crc } = writer ? await storing(this.#path, () => fileSum(this.#path)) : none;
    const counts = {
      rowCount: this.#rowCount,
      nulls: ofFactors(writer?.nullCounts),
      nonFinite: ofFactors(writer?.nonFiniteCounts),
      bytes,
    };
    const record: PartRecord = { ...counts, crc };
    await storing(this.#countsPath, () => writeRecord(this.#countsPath, this.#stem, record));
    return counts;
  }

  /** Removes an unfinished file; does nothing after `commit`. */
  async abort(): Promise<void> {
    await this.#writer?.abort();
  }

  async #openWriter(): Promise<FactorWriter> {
    // Arrow and DuckDB are slow to load, and only executors that write need them.
    const { openFactorWriter } = await import("../../data/write/factor_writer.ts");
    const { factors, source, keepInfinite, program } = this.#job;
    const { time, symbols } = source;
    return await openFactorWriter(
      this.#path,
      { time, symbols, factors, origin: () => program.origin },
      { keepInfinite },
    );
  }

  /** Turns an error of writing into E442, which names this worker. */
  async #writing(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof FactorloomError && NOT_WRITABLE.has(error.code))) throw error;
      throw storeFailed(this.#path, error.problem);
    }
  }
}

interface PartRecord extends OutputCounts {
  readonly crc: number;
}

/** Size and CRC-32 of a file. @throws the system's error. */
async function fileSum(path: string): Promise<{ bytes: number; crc: number }> {
  let [bytes, crc] = [0, 0];
  for await (const piece of createReadStream(path, { highWaterMark: READ_BYTES })) {
    bytes += piece.length;
    crc = crc32(piece, crc);
  }
  return { bytes, crc };
}

function cellCount(present: Uint8Array): number {
  let count = 0;
  for (let cell = 0; cell < present.length; cell++) count += present[cell]!;
  return count;
}
