/** The parts of a Parquet dataset, one file per slab. */
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { FactorBlock } from "../../data/factors/factor_batches.ts";
import type { FactorWriter } from "../../data/write/batch_writer.ts";
import { FactorloomError } from "../../errors.ts";
import { replaceFile } from "../../files/pending_file.ts";
import { storeFailed } from "../protocol/errors.ts";
import type { ClusterJob, OutputCounts } from "../protocol/protocol.ts";
import { storing } from "./stored_files.ts";

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
  done(): OutputCounts | null {
    const record = this.#readCounts();
    if (record === null) return null;
    const { crc, ...counts } = record;
    if (counts.bytes === 0) return counts;
    const file = fileSum(this.#path);
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
    const { bytes, crc } = (writer && fileSum(this.#path)) ?? { bytes: 0, crc: 0 };
    const counts = {
      rowCount: this.#rowCount,
      nulls: ofFactors(writer?.nullCounts),
      nonFinite: ofFactors(writer?.nonFiniteCounts),
      bytes,
    };
    await this.#writeCounts({ ...counts, crc });
    return counts;
  }

  /** Removes an unfinished file; does nothing after `commit`. */
  async abort(): Promise<void> {
    await this.#writer?.abort();
  }

  async #openWriter(): Promise<FactorWriter> {
    // Arrow and DuckDB are slow to load, and only executors that write need them.
    const { openFactorWriter } = await import("../../data/write/factor_writer.ts");
    const { factors, source, keepInfinite } = this.#job;
    const { time, symbols } = source;
    return await openFactorWriter(this.#path, { time, symbols, factors }, { keepInfinite });
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

  /** The record, then its CRC-32, which begins with the name of the part. */
  async #writeCounts(record: PartRecord): Promise<void> {
    const text = JSON.stringify(record);
    const sum = crc32(text, crc32(this.#stem));
    await storing(this.#countsPath, () => replaceFile(this.#countsPath, `${text}\n${sum}\n`));
  }

  /** Null if the file is missing, changed, or of another part. */
  #readCounts(): PartRecord | null {
    try {
      const [text, sum] = readFileSync(this.#countsPath, "utf8").split("\n");
      return sum === String(crc32(text!, crc32(this.#stem))) ? (JSON.parse(text!) as PartRecord) : null;
    } catch {
      return null;
    }
  }
}

interface PartRecord extends OutputCounts {
  readonly crc: number;
}

/** Size and CRC-32 of a file; null if it cannot be read. */
function fileSum(path: string): { bytes: number; crc: number } | null {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch {
    return null;
  }
  try {
    const buffer = new Uint8Array(READ_BYTES);
    let [bytes, crc] = [0, 0];
    for (let count = -1; count !== 0; bytes += count) {
      count = readSync(fd, buffer, 0, buffer.length, bytes);
      crc = crc32(buffer.subarray(0, count), crc);
    }
    return { bytes, crc };
  } finally {
    closeSync(fd);
  }
}

function cellCount(present: Uint8Array): number {
  let count = 0;
  for (let cell = 0; cell < present.length; cell++) count += present[cell]!;
  return count;
}
