/**
 * Where results go. First they are written where no reader looks, in the sink's folder `.staging`; what is published
 * appears at once: a file by its new name, rows of a table by one transaction. Publishing twice changes nothing.
 */
import { readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { appendToTable, hasTable } from "../data/database_file.ts";
import type { FactorBlock, OutputColumns } from "../data/factor_batches.ts";
import { type FactorWriter, openFactorWriter } from "../data/factor_writer.ts";
import { describeTimeType } from "../data/time_text.ts";
import type { JobConfig } from "./config.ts";
import { makeFolder, syncFile, syncFolder } from "./durable.ts";
import { journalDamaged, noDates, sinkInUse } from "./errors.ts";
import type { PreparedRecord, StagedOutput } from "./records.ts";
import { dateOf } from "./row_dates.ts";

export class JobSink {
  readonly #job: JobConfig;
  /** Folder of the sink; of a table: that of its database. */
  readonly #folder: string;
  readonly #staging: string;

  constructor(job: JobConfig) {
    const { sink, name } = job;
    this.#job = job;
    this.#folder = sink.kind === "duckdb" ? dirname(sink.database) : sink.folder;
    this.#staging = sink.kind === "duckdb" ? `.staging-${basename(sink.database)}-${name}` : ".staging";
  }

  /** @throws UsageError E532 if the sink holds results, as it must not when a journal begins. */
  async expectEmpty(): Promise<void> {
    const { sink, name } = this.#job;
    if (sink.kind === "duckdb") {
      if (await hasTable(sink.database, sink.table))
        throw sinkInUse(name, `table ${sink.table} of ${sink.database}`);
      return;
    }
    const names = await readdir(sink.folder).catch(() => [] as string[]);
    if (names.some((entry) => /^(date=|part-)/.test(entry))) throw sinkInUse(name, sink.folder);
  }

  /** @throws UsageError E533 if the sink needs dates and the rows have none. */
  stage(sequence: number, columns: OutputColumns): StagedResults {
    const { sink, schedule, name } = this.#job;
    const number = String(sequence).padStart(8, "0");
    const folder = this.#folder;
    if (sink.kind === "duckdb")
      return new StagedResults(folder, columns, () => output(this.#staging, number, "parquet", sink.table));
    if (sink.kind === "arrow")
      return new StagedResults(folder, columns, () =>
        output(this.#staging, number, "arrow", `part-${number}.arrow`),
      );
    const date = dateOf(columns.time.type, schedule.timezone);
    if (date === null) throw noDates(name, describeTimeType(columns.time.type));
    return new StagedResults(folder, columns, (time) => {
      const day = date(time);
      return output(this.#staging, `${number}-${day}`, "parquet", `date=${day}/part-${number}.parquet`);
    });
  }

  /** Publishes what an input gave; what is there already stays. @throws DataError E360 if staged results are gone. */
  async publish({ sequence, outputs }: PreparedRecord): Promise<void> {
    const { sink, name } = this.#job;
    if (sink.kind === "duckdb") {
      const files = outputs.map(({ staged }) => join(this.#folder, staged));
      await appendToTable(sink.database, sink.table, files, { job: name, sequence });
      return;
    }
    for (const { staged, target } of outputs) {
      await this.#moveIntoPlace(join(this.#folder, staged), join(this.#folder, target));
    }
  }

  /** Removes what was staged and never published; everything under way must be published before. */
  async discardStaged(): Promise<void> {
    await rm(join(this.#folder, this.#staging), { recursive: true, force: true });
  }

  async #moveIntoPlace(staged: string, target: string): Promise<void> {
    await makeFolder(dirname(target));
    if (await exists(staged)) await rename(staged, target);
    else if (!(await exists(target))) throw journalDamaged(staged, "results that it tells of are missing");
    await syncFolder(dirname(target));
  }
}

function output(folder: string, name: string, extension: string, target: string): StagedOutput {
  return { staged: join(folder, `${name}.${extension}`), target };
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}

/** The results of one input under way: a file for each target, one after the other as the rows come. */
export class StagedResults {
  readonly outputs: StagedOutput[] = [];
  rows = 0;
  readonly #folder: string;
  readonly #columns: OutputColumns;
  readonly #outputOf: (time: bigint) => StagedOutput;
  #writer: FactorWriter | null = null;

  constructor(folder: string, columns: OutputColumns, outputOf: (time: bigint) => StagedOutput) {
    this.#folder = folder;
    this.#columns = columns;
    this.#outputOf = outputOf;
  }

  async append(block: FactorBlock): Promise<void> {
    for (const isPresent of block.present) this.rows += isPresent;
    for (let row = 0; row < block.rowCount; ) {
      const output = this.#outputOf(block.times[row]!);
      let end = row + 1;
      while (end < block.rowCount && this.#outputOf(block.times[end]!).target === output.target) end += 1;
      await this.#open(output);
      await this.#writer?.append(rowsOf(block, row, end, this.#columns.symbols.length));
      row = end;
    }
  }

  /** Brings all files to the disk. */
  async finish(): Promise<void> {
    await this.#closeWriter();
    for (const folder of new Set(this.outputs.map(({ staged }) => dirname(join(this.#folder, staged)))))
      await syncFolder(folder);
  }

  /** Lets go of the file under way; what is staged is discarded later. */
  async abort(): Promise<void> {
    await this.#writer?.abort();
    this.#writer = null;
  }

  async #open(output: StagedOutput): Promise<void> {
    if (this.outputs.at(-1)?.staged === output.staged) return;
    await this.#closeWriter();
    const path = join(this.#folder, output.staged);
    await makeFolder(dirname(path));
    this.#writer = await openFactorWriter(path, this.#columns);
    this.outputs.push(output);
  }

  async #closeWriter(): Promise<void> {
    const last = this.outputs.at(-1);
    if (this.#writer === null || last === undefined) return;
    await this.#writer.commit();
    this.#writer = null;
    await syncFile(join(this.#folder, last.staged));
  }
}

function rowsOf(block: FactorBlock, from: number, end: number, laneCount: number): FactorBlock {
  const [first, last] = [from * laneCount, end * laneCount];
  return {
    rowCount: end - from,
    times: block.times.subarray(from, end),
    present: block.present.subarray(first, last),
    columns: new Map(
      [...block.columns].map(([name, values]) => [name, values?.subarray(first, last) ?? null]),
    ),
  };
}
