/** Files of a result that many tasks write: each one a part of a Parquet dataset. */
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FactorWriter } from "../data/factor_writer.ts";
import type { FactorRows } from "./output_block.ts";
import type { ClusterJob, OutputCounts } from "./protocol.ts";
import type { ResultOutcome, ResultTarget } from "./result_target.ts";
import { writeFailure } from "./tile_store.ts";

const padded = (number: number, digits: number) => String(number).padStart(digits, "0");
const stemOf = (slab: number, block: number) => `part-${padded(slab, 6)}-${padded(block, 4)}`;

/**
 * One file of the dataset; none where no cell of its rows is in the input. Its counts are kept in a hidden file beside
 * it, `.part-*.json`, so that a task that is run again, maybe when its tiles are gone, knows them.
 */
export class DatasetPart implements ResultTarget {
  readonly #job: ClusterJob;
  readonly #keepInfinite: boolean;
  readonly #path: string;
  readonly #countsPath: string;
  #writer: FactorWriter | null = null;
  #rowCount = 0;

  constructor(job: ClusterJob, dataset: NonNullable<ClusterJob["dataset"]>, slab: number, block: number) {
    this.#job = job;
    this.#keepInfinite = dataset.keepInfinite;
    this.#path = join(dataset.folder, `${stemOf(slab, block)}.parquet`);
    this.#countsPath = join(dataset.folder, `.${stemOf(slab, block)}.json`);
  }

  /** The counts of the file if it has been written; null if it has not. */
  done(): ResultOutcome | null {
    if (!existsSync(this.#countsPath)) return null;
    const counts = JSON.parse(readFileSync(this.#countsPath, "utf8")) as OutputCounts;
    return counts.rowCount === 0 || existsSync(this.#path) ? { counts } : null;
  }

  /** Adds the next rows. @throws as `openFactorWriter`. */
  async append({ rows: { first, end }, columns, present }: FactorRows): Promise<void> {
    const count = cellCount(present);
    if (count === 0 && this.#writer === null) return;
    const { factors, source } = this.#job;
    this.#writer ??= await this.#openWriter();
    this.#rowCount += count;
    await this.#writer.append({
      rowCount: end - first,
      times: source.time.values.subarray(first, end),
      present,
      columns: new Map(factors.map(({ name }, index) => [name, columns[index]!])),
    });
  }

  /** Gives the file its name. The counts are there before it: where it is, they are. */
  async commit(): Promise<ResultOutcome> {
    const writer = this.#writer;
    const ofFactors = (counts: ReadonlyMap<string, number> | undefined) =>
      this.#job.factors.map(({ name }) => counts?.get(name) ?? 0);
    const counts = {
      rowCount: this.#rowCount,
      nulls: ofFactors(writer?.nullCounts),
      nonFinite: ofFactors(writer?.nonFiniteCounts),
    };
    this.#writeCounts(counts);
    await writer?.commit();
    return { counts };
  }

  /** Leaves no part of the file. Does nothing after `commit`. */
  async abort(): Promise<void> {
    await this.#writer?.abort();
  }

  async #openWriter(): Promise<FactorWriter> {
    // Arrow and DuckDB take a moment to load: only executors that write need them.
    const { openFactorWriter } = await import("../data/factor_writer.ts");
    const { factors, source } = this.#job;
    const columns = {
      time: source.time,
      symbols: source.symbols,
      factors: factors.map(({ name }) => name),
    };
    return await openFactorWriter(this.#path, columns, { keepInfinite: this.#keepInfinite });
  }

  /** @throws ResourceError E609. */
  #writeCounts(counts: OutputCounts): void {
    const temporary = `${this.#countsPath}.${randomUUID()}.tmp`;
    try {
      writeFileSync(temporary, JSON.stringify(counts), { flag: "wx" });
      renameSync(temporary, this.#countsPath);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw writeFailure(this.#countsPath, error);
    }
  }
}

function cellCount(present: Uint8Array): number {
  let count = 0;
  for (let cell = 0; cell < present.length; cell++) count += present[cell]!;
  return count;
}
