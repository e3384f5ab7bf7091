/**
 * Writes results to the sink of a job. They are staged in a hidden folder `.staging-ID` of the sink and published
 * atomically: a file by a rename, rows of a table by one transaction. Publishing is idempotent.
 */
import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import type { Database, OpenDatabase } from "../../data/duckdb/database.ts";
import { type OutputColumns, outputNames, SYMBOL_NAME } from "../../data/factors/factor_batches.ts";
import { inDatabase } from "../../data/job_tables/database_file.ts";
import {
  appendToTable,
  copyTable,
  digestsOfRanges,
  hasTable,
  type ResultTable,
  replaceRows,
  replaceTable,
  tableState,
} from "../../data/job_tables/result_table.ts";
import { layOutPanel } from "../../data/panel/panel_layout.ts";
import type { PanelSource } from "../../data/panel/panel_source.ts";
import { openSourceAs } from "../../data/source/open_panel_source.ts";
import { dateOf } from "../../data/time/dates.ts";
import { describeTimeType } from "../../data/time/time_text.ts";
import type { DataError } from "../../errors.ts";
import { makeDurableFolder, syncFile, syncFolder } from "../../files/durable.ts";
import { namesIn } from "../../files/folders.ts";
import type { TimeType } from "../../panel.ts";
import type { JobConfig, SinkConfig } from "../config/config.ts";
import { noDates, sinkDiffers, sinkInUse } from "../errors.ts";
import { digestOfFile, lookAt } from "../input/input_files.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { OutputPaths, Rebuilt, StagedOutput } from "../ledger/records.ts";
import { storing } from "../ledger/storing.ts";
import { Generations } from "./generations.ts";
import { StagedResults } from "./staged_results.ts";

type TableSink = Extract<SinkConfig, { kind: "duckdb" }>;

/** Outputs whose digests each run checks. */
const NEWEST = 2;

export class JobSink {
  readonly #job: JobConfig;
  readonly #ledger: Ledger;
  /** Folder of the sink, or of its database. */
  readonly #folder: string;
  /** Of a sink of files. */
  readonly #generations: Generations;

  constructor(job: JobConfig, ledger: Ledger) {
    const { sink } = job;
    this.#job = job;
    this.#ledger = ledger;
    this.#folder = sink.kind === "duckdb" ? dirname(sink.database) : sink.folder;
    this.#generations = new Generations(this.#folder);
  }

  /** One for each ledger: jobs may share the folder of a database, and two may begin in one sink at a time. */
  get #staging(): string {
    return `.staging-${this.#ledger.begin?.id}`;
  }

  /**
   * Checks that the sink holds what the ledger says. `newest` is quick: names and sizes of files, the number of rows of
   * a table, and the digests of the newest outputs; `all` checks every digest.
   *
   * @throws DataError E367; ResourceError E450 while another process writes to the database.
   */
  async check(extent: "newest" | "all"): Promise<void> {
    if (this.#ledger.begin === null) return;
    if (this.#ledger.rebuilt !== null)
      throw this.#differs("it may show the results of before the last rebuild, which the next run finishes");
    const { sink } = this.#job;
    const newest = extent === "all" ? this.#ledger.counts.outputs : NEWEST;
    if (sink.kind !== "duckdb") return await this.#checkFiles(sink.kind, newest);
    const check = (database: Database | null) => this.#checkTable(database, sink, newest);
    const isThere = (await sizeOf(sink.database)) !== null;
    await (isThere ? inDatabase(sink.database, "READ_ONLY", check) : check(null));
  }

  /** @throws UsageError E532 if the sink holds results when a ledger begins, ResourceError E442 if it is no folder. */
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
  async publish(sequence: number, outputs: readonly StagedOutput[]): Promise<void> {
    const { sink } = this.#job;
    if (sink.kind === "duckdb") {
      const staged = join(this.#folder, outputs[0]!.staged);
      const position = await appendToTable(this.#table(sink), staged, sequence);
      if (position !== sequence) throw this.#differs(`${sink.database} stands at batch ${position}`);
      await syncFile(sink.database);
      await syncFolder(this.#folder);
      return;
    }
    for (const { staged, target } of outputs) {
      await this.#moveIntoPlace(join(this.#folder, staged), join(this.#folder, target));
    }
  }

  /** Opens all results for reading, under the names of their columns; null if there are none. */
  async read(open: OpenDatabase): Promise<PanelSource | null> {
    const { sink } = this.#job;
    const { begin, counts } = this.#ledger;
    if (counts.rows === 0) return null;
    let path = this.#folder;
    if (sink.kind === "duckdb") {
      path = join(this.#folder, this.#staging, "before.parquet");
      await makeDurableFolder(dirname(path));
      await copyTable(this.#table(sink), path);
    }
    const keys = { timeColumn: begin!.time.name, symbolColumn: SYMBOL_NAME };
    return await openSourceAs(path, keys, layOutPanel, "whole", open);
  }

  /** The number of the next generation: a ledger that was restored may know of fewer than there are. */
  async nextGeneration(): Promise<number> {
    return Math.max(this.#ledger.begin!.generation, (await this.#generations.shown()) ?? 0) + 1;
  }

  /** Where the results of a rebuild are written: a generation of their own, or a file beside a table. */
  async stageRebuild(columns: OutputColumns, isWritten: (time: bigint) => boolean): Promise<StagedResults> {
    const { sink, call } = this.#job;
    const { sequence } = this.#ledger;
    const keepInfinite = call.keepInfinite === true;
    const number = String(sequence + 1).padStart(8, "0");
    const staged = this.#pathsOf(number, columns.time.type);
    if (sink.kind === "duckdb")
      return new StagedResults(this.#folder, sink.kind, columns, {
        pathsOf: staged,
        isWritten,
        keepInfinite,
      });
    const next = await this.nextGeneration();
    await this.#generations.begin(next - 1);
    await this.#generations.removeOld(next - 1, Date.now());
    await this.#generations.discard(next);
    await makeDurableFolder(this.#generations.folderOf(next));
    const pathsOf = (time: bigint) => ({ staged: staged(time).target, target: staged(time).target });
    const folder = this.#generations.folderOf(next);
    return new StagedResults(folder, sink.kind, columns, { pathsOf, isWritten, keepInfinite });
  }

  /** Removes results of a rebuild that are those of before. */
  async discardRebuild(): Promise<void> {
    await this.discardStaged();
    if (this.#job.sink.kind !== "duckdb") await this.#generations.discard(await this.nextGeneration());
  }

  /** Shows the results of a rebuild in the place of those of before. May be called again after a crash. */
  async publishRebuild(
    { sequence, begin, isRepair }: Rebuilt,
    outputs: readonly StagedOutput[],
  ): Promise<void> {
    const { sink } = this.#job;
    if (sink.kind !== "duckdb") {
      await this.#generations.switchTo(begin.generation);
      return;
    }
    const before = this.#table(sink);
    const columns = outputNames(begin);
    const [output] = outputs as [StagedOutput];
    const staged = join(this.#folder, output.staged);
    const position = isRepair
      ? await replaceTable(before, columns, staged, sequence)
      : await replaceRows(before, columns, staged, sequence);
    if (position !== sequence) throw this.#differs(`${sink.database} stands at batch ${position}`);
    await syncFile(sink.database);
    await syncFolder(this.#folder);
  }

  /** Removes staged outputs; pending ones must be published before. */
  async discardStaged(): Promise<void> {
    if (this.#ledger.begin === null) return;
    await rm(join(this.#folder, this.#staging), { recursive: true, force: true });
  }

  async #moveIntoPlace(staged: string, target: string): Promise<void> {
    await makeDurableFolder(dirname(target));
    const [isStaged, isThere] = [existsSync(staged), existsSync(target)];
    if (!isStaged && !isThere) throw this.#differs(`${target} is missing`);
    if (isStaged && isThere) throw this.#differs(`${target} is there, and the ledger has not published it`);
    if (isStaged) await rename(staged, target);
    await syncFolder(dirname(target));
  }

  /** Finds files that are missing, altered, or unknown to the ledger. */
  async #checkFiles(kind: SinkConfig["kind"], newest: number): Promise<void> {
    const names = await namesIn(this.#folder, { recursive: true });
    const unknown = new Set(
      names.filter((name) => name.toLowerCase().endsWith(`.${kind}`) && !isHidden(name)),
    );
    const pendingCount = this.#pendingCount;
    let age = 0;
    for (const page of this.#ledger.outputs.pages()) {
      const sizes = await Promise.all(page.map(({ target }) => this.#sizeOf(target)));
      for (const [index, output] of page.entries()) {
        const stagedBytes = age < pendingCount ? await this.#sizeOf(output.staged) : null;
        const path = stagedBytes === null ? output.target : output.staged;
        const isThorough = age < Math.max(newest, pendingCount);
        await this.#checkFile(path, stagedBytes ?? sizes[index]!, output, isThorough);
        unknown.delete(output.target);
        age += 1;
      }
    }
    for (const path of unknown)
      if ((await this.#sizeOf(path)) !== null)
        throw this.#differs(`${join(this.#folder, path)} is there, and the ledger does not know it`);
  }

  async #checkFile(
    name: string,
    bytes: number | null,
    output: StagedOutput,
    isThorough: boolean,
  ): Promise<void> {
    const path = join(this.#folder, name);
    if (bytes === null) throw this.#differs(`${path} is missing`);
    if (bytes !== output.bytes)
      throw this.#differs(`${path} has ${bytes} bytes, and ${output.bytes} were written`);
    if (isThorough && (await digestOfFile(path)) !== output.sha256)
      throw this.#differs(`${path} does not hold the bytes that were written`);
  }

  /** @param database null if its file is missing */
  async #checkTable(database: Database | null, sink: TableSink, newest: number): Promise<void> {
    const { sequence } = this.#ledger;
    const shown = `table ${sink.table} of ${sink.database}`;
    const target = this.#table(sink);
    const state = database && (await tableState(database, target));
    const position = state?.position ?? 0;
    const awaited = position === sequence - 1 ? this.#pendingCount : 0;
    const outputs = this.#ledger.outputs.newest(awaited + newest).reverse();
    const inTable = outputs.slice(0, outputs.length - awaited);
    for (const output of outputs.slice(inTable.length))
      await this.#checkFile(output.staged, await this.#sizeOf(output.staged), output, true);
    if (database === null || state === null) {
      if (inTable.length === 0) return;
      throw this.#differs(`${database === null ? sink.database : shown} is missing`);
    }
    if (inTable.length === 0) throw this.#differs(`${shown} is there, and the ledger does not know it`);
    const wanted = sequence - (awaited > 0 ? 1 : 0);
    if (position !== wanted)
      throw this.#differs(`${shown} stands at batch ${position} of this ledger, which stands at ${wanted}`);
    const rows = inTable.map((output) => output.rows!);
    // Another type would round values or format them differently.
    for (const [index, name] of target.columns.entries()) {
      const type = [rows[0]!.timeType, "VARCHAR"][index] ?? "DOUBLE";
      const own = state.types.get(name);
      if (own === undefined) throw this.#differs(`${shown} has no column ${name}`);
      if (own !== type) throw this.#differs(`column ${name} of ${shown} is ${own}, and ${type} was written`);
    }
    const { counts, committed } = this.#ledger;
    const count = awaited > 0 ? committed.rows : counts.rows;
    if (state.count !== count)
      throw this.#differs(`${shown} has ${state.count} rows, and ${count} were written`);
    for (const [index, found] of (await digestsOfRanges(database, target, rows)).entries()) {
      const range = rows[index]!;
      if (found.count !== range.count || found.sum !== range.sum)
        throw this.#differs(`the rows of ${shown} from ${range.from} on are not those that were written`);
    }
  }

  /** The newest outputs that may still be staged. */
  get #pendingCount(): number {
    return this.#ledger.isPending ? this.#ledger.batch!.outputs : 0;
  }

  /** The table of the sink, as the ledger describes it. */
  #table({ database, table }: TableSink): ResultTable {
    const begin = this.#ledger.begin!;
    return { database, table, journal: begin.id, columns: outputNames(begin) };
  }

  async #sizeOf(name: string): Promise<number | null> {
    return await sizeOf(join(this.#folder, name));
  }

  #differs(what: string): DataError {
    return sinkDiffers(this.#job.name, what);
  }
}

/** The ending keeps readers away that look into dot folders. */
function output(folder: string, name: string, target: string): OutputPaths {
  return { staged: join(folder, `${name}.staged`), target };
}

/** Whether a relative path leads through a name that starts with a dot. */
function isHidden(path: string): boolean {
  return path.split(sep).some((name) => name.startsWith("."));
}

/** The size of a file; null if there is none. */
async function sizeOf(path: string): Promise<number | null> {
  const there = await lookAt(path);
  return there === null || typeof there === "string" ? null : there.bytes;
}
