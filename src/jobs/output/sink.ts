/**
 * Where results go. First they are written where no reader looks, in a folder `.staging-ID` of the sink; what is
 * published appears at once: a file by its new name, rows of a table by one transaction. Publishing twice changes nothing.
 */
import { readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { OutputColumns } from "../../data/factors/factor_batches.ts";
import { appendToTable, hasTable } from "../../data/job_tables/result_table.ts";
import { describeTimeType } from "../../data/time/time_text.ts";
import { dateOf } from "../clock/row_dates.ts";
import type { JobConfig } from "../config/config.ts";
import { noDates, sinkDiffers, sinkInUse } from "../errors.ts";
import { makeFolder, syncFile, syncFolder } from "../journal/durable.ts";
import type { JobHistory } from "../journal/history.ts";
import type { OutputPlace, PreparedRecord } from "../journal/records.ts";
import { checkFiles, checkTable, resultTable } from "./sink_check.ts";
import { StagedResults } from "./staged_results.ts";

export class JobSink {
  readonly #job: JobConfig;
  readonly #history: JobHistory;
  /** Folder of the sink; of a table: that of its database. */
  readonly #folder: string;

  constructor(job: JobConfig, history: JobHistory) {
    const { sink } = job;
    this.#job = job;
    this.#history = history;
    this.#folder = sink.kind === "duckdb" ? dirname(sink.database) : sink.folder;
  }

  /** Each journal has its own: jobs share the folder of a database, and two may begin in one sink at a time. */
  get #staging(): string {
    return `.staging-${this.#history.begin?.id}`;
  }

  /**
   * Checks that the sink holds what the journal says: all of it if need be, else what can be had at once, which is the
   * names and sizes of files, the number of rows of a table, and the digests of the newest.
   *
   * @throws DataError E367.
   */
  async check(extent: "newest" | "all"): Promise<void> {
    if (this.#history.begin === null) return;
    if (this.#job.sink.kind === "duckdb") await checkTable(this.#job, this.#history, extent);
    else await checkFiles(this.#job, this.#history, this.#folder, extent);
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
      return new StagedResults(folder, sink.kind, columns, () => output(this.#staging, number, sink.table));
    if (sink.kind === "arrow")
      return new StagedResults(folder, sink.kind, columns, () =>
        output(this.#staging, number, `part-${number}.arrow`),
      );
    const date = dateOf(columns.time.type, schedule.timezone);
    if (date === null) throw noDates(name, describeTimeType(columns.time.type));
    return new StagedResults(folder, sink.kind, columns, (time) => {
      const day = date(time);
      return output(this.#staging, `${number}-${day}`, `date=${day}/part-${number}.parquet`);
    });
  }

  /** Publishes what a batch gave; what is there already stays. @throws DataError E367 if the sink changed meanwhile. */
  async publish({ sequence, outputs }: PreparedRecord): Promise<void> {
    const { sink, name } = this.#job;
    if (sink.kind === "duckdb") {
      const staged = join(this.#folder, outputs[0]!.staged);
      const position = await appendToTable(resultTable(sink, this.#history), staged, sequence);
      if (position !== sequence) throw sinkDiffers(name, `${sink.database} stands at batch ${position}`);
      await syncFile(sink.database);
      await syncFolder(this.#folder);
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
    const [isStaged, isThere] = [await exists(staged), await exists(target)];
    if (!isStaged && !isThere) throw sinkDiffers(this.#job.name, `${target} is missing`);
    if (isStaged && isThere)
      throw sinkDiffers(this.#job.name, `${target} is there, and the journal has not published it`);
    if (isStaged) await rename(staged, target);
    await syncFolder(dirname(target));
  }
}

/** No reader takes a file for one of its own by this ending, not even one that looks into folders with a dot. */
function output(folder: string, name: string, target: string): OutputPlace {
  return { staged: join(folder, `${name}.staged`), target };
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}
