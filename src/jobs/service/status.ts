/** Reports the progress of jobs and what a run would do, without changing anything. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ReusedDatabases } from "../../data/duckdb/database.ts";
import { writeQueryRows } from "../../data/job_tables/database_file.ts";
import { formatTime } from "../../data/time/time_text.ts";
import { DataError, UsageError } from "../../errors.ts";
import { engineDigest } from "../../operator/operator_digest.ts";
import { Schedule } from "../clock/schedule.ts";
import type { JobConfig, RunConfig } from "../config/config.ts";
import { journalLocked } from "../errors.ts";
import { expectInput, listSourceFiles } from "../input/input_files.ts";
import { findNewInputs, type NewInput } from "../input/new_inputs.ts";
import { expectInPlace, settledQueryFiles } from "../input/query_inputs.ts";
import type { JobHistory } from "../journal/history.ts";
import { queryFolder, readHistory } from "../journal/job_store.ts";
import { lockHolder } from "../journal/journal_lock.ts";
import type { InputColumns, RunOutcome, UniverseRecord } from "../journal/records.ts";
import { JobSink } from "../output/sink.ts";
import { groupsRead } from "../state/job_groups.ts";
import {
  compileJob,
  expectSameSettings,
  type FormulaTexts,
  queryOptions,
  readFormulas,
  settingsOf,
} from "../state/job_program.ts";

export interface JobStatus {
  readonly job: string;
  readonly lastRun: string | null;
  readonly outcome: RunOutcome | null;
  readonly lastSuccess: string | null;
  /** Files of all runs whose results are in the sink. */
  readonly files: number;
  readonly rows: number;
  readonly skipped: number;
  /** The last evaluated time. */
  readonly position: string | null;
  readonly nextRun: string | null;
  readonly error: string | null;
  /** How the sink differs from the journal, null if it does not; the whole is null if the sink was not checked. */
  readonly sink: { readonly differs: string | null } | null;
}

export interface StatusOptions {
  /** Check the digests of all results in the sinks. */
  readonly verify?: boolean;
}

export interface RunStatus {
  /** The process that is running the jobs. */
  readonly pid: number | null;
  readonly jobs: readonly JobStatus[];
}

/** @throws DataError E360 for a damaged journal; with `verify` ResourceError E450 while a process runs the jobs. */
export async function readStatus(
  config: RunConfig,
  nowMs: number,
  { verify = false }: StatusOptions = {},
): Promise<RunStatus> {
  const pid = await lockHolder(config.journal);
  if (verify && pid !== null) throw journalLocked(config.journal, pid);
  const jobs = config.jobs.map(async (job): Promise<JobStatus> => {
    const history = await readHistory(config.journal, job.name);
    const { lastRun, lastSuccess, committed, skipped } = history;
    return {
      job: job.name,
      lastRun: lastRun?.startedAt ?? null,
      outcome: lastRun?.outcome ?? null,
      lastSuccess: lastSuccess?.endedAt ?? null,
      files: committed.files,
      rows: committed.rows,
      skipped: skipped.size,
      position: positionOf(history),
      nextRun: nextRun(job, nowMs),
      error: lastRun?.error ?? null,
      sink: verify ? { differs: await differenceOf(job, history) } : null,
    };
  });
  return { pid, jobs: await Promise.all(jobs) };
}

async function differenceOf(job: JobConfig, history: JobHistory): Promise<string | null> {
  try {
    const sink = new JobSink(job, history);
    await (history.begin === null ? sink.expectEmpty() : sink.check("all"));
    return null;
  } catch (error) {
    if (error instanceof DataError || error instanceof UsageError) return error.message;
    throw error;
  }
}

function positionOf({ committed: { lastTime }, begin }: JobHistory): string | null {
  return lastTime === null || begin === null ? null : formatTime(lastTime, begin.time.type);
}

function nextRun({ schedule }: JobConfig, nowMs: number): string | null {
  const next = new Schedule(schedule).next(nowMs);
  return next === null ? null : new Date(next).toISOString();
}

/** What a run would do. */
export interface PlannedRun {
  readonly job: string;
  /** Null while no input shows which columns exist. */
  readonly factors: number | null;
  readonly newFiles: number;
  readonly newRows: number;
  readonly position: string | null;
  readonly nextRun: string | null;
}

/**
 * Opens sources and compiles formulas as a run would, without changing anything.
 *
 * @throws what a run would fail with.
 */
export async function planRuns(config: RunConfig, nowMs: number): Promise<PlannedRun[]> {
  const planned: PlannedRun[] = [];
  for (const job of config.jobs) planned.push(await planRun(config, job, nowMs));
  return planned;
}

async function planRun(config: RunConfig, job: JobConfig, nowMs: number): Promise<PlannedRun> {
  const history = await readHistory(config.journal, job.name);
  const texts = await readFormulas(job);
  const sink = new JobSink(job, history);
  if (history.begin === null) await sink.expectEmpty();
  else {
    expectSameSettings(job, settingsOf(job, texts, engineDigest()), history.begin);
    await sink.check("newest");
  }
  const folder = await mkdtemp(join(tmpdir(), "factorloom-dry-run-"));
  try {
    const inputs = await findPlanned(config, job, texts, history, folder);
    const columns = history.begin ?? inputs[0];
    const known = inputs.length > 0 && history.sequence > 0 ? history.universe : null;
    const factors = columns === undefined ? null : await countFactors(job, texts, columns, known);
    return {
      job: job.name,
      factors,
      newFiles: inputs.length,
      newRows: inputs.reduce((sum, { rowCount }) => sum + rowCount, 0),
      position: positionOf(history),
      nextRun: nextRun(job, nowMs),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @throws UsageError E531 if groups of known symbols have changed; as `compileJob`. */
async function countFactors(
  job: JobConfig,
  texts: FormulaTexts,
  columns: InputColumns,
  known: UniverseRecord | null,
): Promise<number> {
  const program = await compileJob(job, texts, columns);
  if (known !== null) await groupsRead(job, columns, program.ownGroups, known.symbols, known);
  return program.factors.length;
}

/** Finds the new inputs; new rows of a query go to a temporary folder. @throws for a bad input. */
async function findPlanned(
  config: RunConfig,
  job: JobConfig,
  texts: FormulaTexts,
  history: JobHistory,
  folder: string,
): Promise<readonly NewInput[]> {
  const { source } = job;
  const paths =
    source.kind === "files"
      ? await listSourceFiles(source)
      : await plannedRows(config, job, texts, history, folder);
  await expectInput(source, paths, history);
  using databases = new ReusedDatabases();
  const { signal } = new AbortController();
  const reading = { names: source, open: databases.open, signal };
  const { inputs, bad } = await findNewInputs(paths, history, reading, job.badInput);
  if (bad[0] && job.badInput === "fail") throw bad[0].error;
  return inputs;
}

async function plannedRows(
  config: RunConfig,
  job: JobConfig,
  texts: FormulaTexts,
  history: JobHistory,
  folder: string,
): Promise<string[]> {
  const { source } = job;
  const earlier = await settledQueryFiles(queryFolder(config.journal, job.name), history);
  if (source.kind !== "duckdb") return earlier;
  const path = join(folder, "rows.parquet");
  const { timeColumn, symbolColumn, database, query } = source;
  const { rowCount, ...rows } = await writeQueryRows(database, query, path, {
    timeColumn,
    symbolColumn,
    earlier,
    ...queryOptions(job, history, (begin) => compileJob(job, texts, begin)),
  });
  expectInPlace(job, rows);
  return rowCount === 0 ? earlier : [...earlier, path];
}
