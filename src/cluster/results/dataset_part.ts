/** The parts of a Parquet dataset, one file per task. */
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { FactorWriter } from "../../data/write/factor_writer.ts";
import { FactorloomError } from "../../errors.ts";
import { ownerOf, writeWhole } from "../exchange/tile_store.ts";
import { storeFailed } from "../protocol/errors.ts";
import { sealed, unsealed } from "../protocol/file_seal.ts";
import type { ClusterJob, OutputCounts } from "../protocol/protocol.ts";
import type { FactorRows } from "./output_block.ts";
import type { ResultOutcome, ResultTarget } from "./result_target.ts";

const padded = (number: number, digits: number) => String(number).padStart(digits, "0");

/** Names of parts, and of the files with their counts. */
export const PART_NAME = /^\.?part-\d+-\d+-.*\.(parquet|json)$/;

/** Name of a part, without extension; contains digits of the seal of its run. */
export function partStem({ identity }: Pick<ClusterJob, "identity">, slab: number, block: number): string {
  return `part-${padded(slab, 6)}-${padded(block, 4)}-${identity.seal.slice(0, SEAL_DIGITS)}`;
}

const SEAL_DIGITS = 16;
/** Errors of writing: a failure of the system, and a folder without permission. */
const NOT_WRITABLE = new Set(["E442", "E544"]);
const READ_BYTES = 2 ** 20;

/**
 * One file of the dataset; no file if the input has no row in its cells. A sealed file beside it, `.part-*.json`, keeps its
 * counts, size and checksum for a task that runs again, perhaps after its tiles were removed. A part that differs from them
 * counts as missing.
 */
export class DatasetPart implements ResultTarget {
  readonly #job: ClusterJob;
  readonly #keepInfinite: boolean;
  readonly #path: string;
  readonly #countsPath: string;
  readonly #owner: string;
  #writer: FactorWriter | null = null;
  #rowCount = 0;

  constructor(job: ClusterJob, dataset: NonNullable<ClusterJob["dataset"]>, slab: number, block: number) {
    this.#job = job;
    this.#keepInfinite = dataset.keepInfinite;
    const stem = partStem(job, slab, block);
    this.#path = join(dataset.folder, `${stem}.parquet`);
    this.#countsPath = join(dataset.folder, `.${stem}.json`);
    this.#owner = ownerOf(job, stem);
  }

  /** The counts of the file if it is as it was written, else null. */
  done(): ResultOutcome | null {
    const text = contentOf(this.#countsPath, this.#owner);
    if (text === null) return null;
    const { crc, ...counts } = JSON.parse(text) as PartRecord;
    if (counts.bytes === 0) return { counts };
    const file = fileSum(this.#path);
    return file?.bytes === counts.bytes && file.crc === crc ? { counts } : null;
  }

  /** Adds the next rows. @throws ResourceError E609; as `openFactorWriter`. */
  async append({ rows: { first, end }, columns, present }: FactorRows): Promise<void> {
    const count = cellCount(present);
    if (count === 0 && this.#writer === null) return;
    const { factors, source } = this.#job;
    this.#rowCount += count;
    await this.#writing(async () => {
      this.#writer ??= await this.#openWriter();
      await this.#writer.append({
        rowCount: end - first,
        times: source.time.values.subarray(first, end),
        present,
        columns: new Map(factors.map(({ name }, index) => [name, columns[index]!])),
      });
    });
  }

  /** Renames the file, then its counts: where counts exist, the file does. */
  async commit(): Promise<ResultOutcome> {
    const writer = this.#writer;
    const ofFactors = (counts: ReadonlyMap<string, number> | undefined) =>
      this.#job.factors.map(({ name }) => counts?.get(name) ?? 0);
    await this.#writing(async () => await writer?.commit());
    const { bytes, crc } = (writer && fileSum(this.#path)) ?? { bytes: 0, crc: 0 };
    const counts = {
      rowCount: this.#rowCount,
      nulls: ofFactors(writer?.nullCounts),
      nonFinite: ofFactors(writer?.nonFiniteCounts),
      bytes,
    };
    const record: PartRecord = { ...counts, crc };
    writeWhole(this.#countsPath, sealed(Buffer.from(JSON.stringify(record)), this.#owner));
    return { counts };
  }

  async abort(): Promise<void> {
    await this.#writer?.abort();
  }

  async #openWriter(): Promise<FactorWriter> {
    // Arrow and DuckDB are slow to load, and only executors that write need them.
    const { openFactorWriter } = await import("../../data/write/factor_writer.ts");
    const { factors, source } = this.#job;
    const columns = {
      time: source.time,
      symbols: source.symbols,
      factors: factors.map(({ name }) => name),
    };
    return await openFactorWriter(this.#path, columns, { keepInfinite: this.#keepInfinite });
  }

  /** Turns an error of writing into E609, which names this worker. */
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

/** Null if the file is missing, changed, or of another run. */
function contentOf(path: string, owner: string): string | null {
  let file: Uint8Array;
  try {
    file = readFileSync(path);
  } catch {
    return null;
  }
  const content = unsealed(file, owner);
  return content === null ? null : Buffer.from(content).toString();
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
