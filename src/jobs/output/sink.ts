/**
 * Writes results to the sink of a job. They are staged in a hidden folder `.staging-ID` of the sink and published
 * atomically: a file by a rename, rows of a table by one transaction. Publishing is idempotent.
 */
import { readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { OutputColumns } from "../../data/factors/factor_batches.ts";
import { appendToTable, hasTable } from "../../data/job_tables/result_table.ts";
import { dateOf } from "../../data/time/dates.ts";
import { describeTimeType } from "../../data/time/time_text.ts";
import type { TimeType } from "../../panel.ts";
import type { JobConfig } from "../config/config.ts";
import { noDates, sinkDiffers, sinkInUse } from "../errors.ts";
import { makeDurableFolder, storing, syncFile, syncFolder } from "../journal/durable.ts";
import type { JobHistory } from "../journal/history.ts";
import type { OutputPaths, PreparedRecord } from "../journal/records.ts";
import { type CheckExtent, checkFiles, checkTable, resultTable } from "./sink_check.ts";
import { StagedResults } from "./staged_results.ts";

export class JobSink {
  readonly #job: JobConfig;
  readonly #history: JobHistory;
  /** Folder of the sink, or of its database. */
  readonly #folder: string;

  constructor(job: JobConfig, history: JobHistory) {
    const { sink } = job;
    this.#job = job;
    this.#history = history;
    this.#folder = sink.kind === "duckdb" ? dirname(sink.database) : sink.folder;
  }

  /** One for each journal: jobs may share the folder of a database, and two may begin in one sink at a time. */
  get #staging(): string {
    return `.staging-${this.#history.begin?.id}`;
  }

  /**
   * Checks that the sink holds what the journal says. `newest` is quick: names and sizes of files, the number of rows of
   * a table, and the digests of the newest outputs; `all` checks every digest.
   *
   * @throws DataError E367.
   */
  async check(extent: CheckExtent): Promise<void> {
    if (this.#history.begin === null) return;
    const { sink, name } = this.#job;
    if (sink.kind === "duckdb") await checkTable(name, sink, this.#history, extent);
    else await checkFiles(name, sink, this.#history, extent);
  }

  /** @throws UsageError E532 if the sink holds results when a journal begins, ResourceError E442 if it is no folder. */
  async expectEmpty(): Promise<void> {
    const { sink, name } = this.#job;
    if (sink.kind === "duckdb") {
      if (await hasTable(sink.database, sink.table))
        throw sinkInUse(name, `table ${sink.table} of ${sink.database}`);
      return;
    }
    const names = await storing(sink.folder, () => namesIn(sink.folder));
    if (names.some((entry) => /^(date=|part-)/.test(entry))) throw sinkInUse(name, sink.folder);
  }

  /** @throws UsageError E530 if the sink needs dates and the rows have none. */
  stage(sequence: number, columns: OutputColumns, isWritten: (time: bigint) => boolean): StagedResults {
    const pathsOf = this.#pathsOf(String(sequence).padStart(8, "0"), columns.time.type);
    const { sink, call } = this.#job;
    const keepInfinite = call.keepInfinite === true;
    return new StagedResults(this.#folder, sink.kind, columns, { pathsOf, isWritten, keepInfinite });
  }

  /** The paths of the results of a row, by its time. */
  #pathsOf(number: string, type: TimeType): (time: bigint) => OutputPaths {
    const { sink, schedule, name } = this.#job;
    if (sink.kind === "duckdb") return () => output(this.#staging, number, sink.table);
    if (sink.kind === "arrow") return () => output(this.#staging, number, `part-${number}.arrow`);
    const date = dateOf(type, schedule.timezone);
    if (date === null) throw noDates(name, describeTimeType(type));
    return (time) => {
      const day = date(time);
      return output(this.#staging, `${number}-${day}`, `date=${day}/part-${number}.parquet`);
    };
  }

  /** Publishes the outputs of a batch that are not there yet. @throws DataError E367 if the sink has other content. */
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

  /** Removes staged outputs; pending ones must be published before. */
  async discardStaged(): Promise<void> {
    if (this.#history.begin === null) return;
    await rm(join(this.#folder, this.#staging), { recursive: true, force: true });
  }

  async #moveIntoPlace(staged: string, target: string): Promise<void> {
    await makeDurableFolder(dirname(target));
    const [isStaged, isThere] = [await exists(staged), await exists(target)];
    if (!isStaged && !isThere) throw sinkDiffers(this.#job.name, `${target} is missing`);
    if (isStaged && isThere)
      throw sinkDiffers(this.#job.name, `${target} is there, and the journal has not published it`);
    if (isStaged) await rename(staged, target);
    await syncFolder(dirname(target));
  }
}

/** The ending keeps readers away that look into dot folders. */
function output(folder: string, name: string, target: string): OutputPaths {
  return { staged: join(folder, `${name}.staged`), target };
}

/** Names in a folder; none if it does not exist yet. */
async function namesIn(folder: string): Promise<string[]> {
  return await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}
