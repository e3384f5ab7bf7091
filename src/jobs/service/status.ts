/** Reports the progress of jobs and what a run would do, without changing anything. */
import { formatTime } from "../../data/time/time_text.ts";
import { DataError, UsageError } from "../../errors.ts";
import { UNITS_PER_SECOND } from "../../panel.ts";
import { Schedule } from "../clock/schedule.ts";
import type { JobConfig, RunConfig } from "../config/config.ts";
import { journalLocked } from "../errors.ts";
import { listSourceFiles, whatLiesThere } from "../input/input_files.ts";
import { JobStore } from "../ledger/job_store.ts";
import { lockHolder } from "../ledger/journal_lock.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { EndedRun, RunOutcome, SkippedInput, WaitingRebuild } from "../ledger/records.ts";
import { JobSink } from "../output/sink.ts";
import { BATCH_LIMITS } from "./evaluate_batch.ts";
import { JobRunner } from "./job_runner.ts";
import { SharedHost } from "./shared_host.ts";

/** Files that are named of those that are passed over. */
const SHOWN = 3;
/** Due times that are counted. */
const DUE_MAX = 1_000;
const DAY_MS = 86_400_000;

export interface JobStatus {
  readonly job: string;
  readonly lastRun: string | null;
  readonly outcome: RunOutcome | null;
  readonly lastSuccess: string | null;
  /** Files of all runs whose results are in the sink. */
  readonly files: number;
  readonly rows: number;
  readonly skipped: number;
  /** The newest of the files that are passed over. */
  readonly newestSkipped: readonly Pick<SkippedInput, "path" | "reason" | "since">[];
  /** The last evaluated time. */
  readonly position: string | null;
  /** Since that time; null where times are integers. Those without a zone are taken for UTC. */
  readonly positionAgeMs: number | null;
  /** Due times since the last success began, which no run has served: how many (1,000 for more), and the first. */
  readonly unserved: { readonly count: number; readonly first: string } | null;
  /** Why a source of files has none; null if it has some, and for a query. */
  readonly noInput: string | null;
  readonly nextRun: string | null;
  readonly error: string | null;
  /** A rebuild that is larger than a run does by itself. */
  readonly waiting: WaitingRebuild | null;
  /** How the sink differs from the ledger, null if it does not; the whole is null if the sink was not checked. */
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

/** @throws DataError E360 for a damaged ledger; with `verify` ResourceError E450 while a process runs the jobs. */
export async function readStatus(
  config: RunConfig,
  nowMs: number,
  { verify = false }: StatusOptions = {},
): Promise<RunStatus> {
  const pid = await lockHolder(config.journal);
  if (verify && pid !== null) throw journalLocked(config.journal, pid);
  const jobs = config.jobs.map(async (job): Promise<JobStatus> => {
    using store = await JobStore.open(config.journal, job.name, "read");
    const { ledger } = store;
    if (verify) ledger.verify();
    const { lastRun, lastSuccess, committed } = ledger;
    return {
      job: job.name,
      lastRun: lastRun?.startedAt ?? null,
      outcome: lastRun?.outcome ?? null,
      lastSuccess: lastSuccess?.endedAt ?? null,
      files: committed.files,
      rows: committed.rows,
      skipped: ledger.skipped.size,
      newestSkipped: ledger.skipped.newest(SHOWN).map(({ path, reason, since }) => ({ path, reason, since })),
      position: positionOf(ledger),
      positionAgeMs: positionAge(ledger, nowMs),
      unserved: unservedTimes(job, lastSuccess, nowMs),
      noInput: await inputMissing(job),
      nextRun: nextRun(job, nowMs),
      error: lastRun?.error ?? null,
      waiting: ledger.waiting,
      sink: verify ? { differs: await differenceOf(job, ledger) } : null,
    };
  });
  return { pid, jobs: await Promise.all(jobs) };
}

async function differenceOf(job: JobConfig, ledger: Ledger): Promise<string | null> {
  try {
    const sink = new JobSink(job, ledger);
    await (ledger.begin === null ? sink.expectEmpty() : sink.check("all"));
    return null;
  } catch (error) {
    if (error instanceof DataError || error instanceof UsageError) return error.message;
    throw error;
  }
}

/** @param lastSuccess a job that has none is not late: it may be new */
function unservedTimes({ schedule }: JobConfig, lastSuccess: EndedRun | null, nowMs: number) {
  if (lastSuccess === null) return null;
  const due = new Schedule(schedule).between(Date.parse(lastSuccess.startedAt), nowMs, DUE_MAX);
  return due.length === 0 ? null : { count: due.length, first: new Date(due[0]!).toISOString() };
}

async function inputMissing({ source }: JobConfig): Promise<string | null> {
  if (source.kind === "duckdb") return null;
  const paths = await listSourceFiles(source).catch(() => []);
  return paths.length === 0 ? await whatLiesThere(source) : null;
}

function positionAge({ committed: { lastTime }, begin }: Ledger, nowMs: number): number | null {
  const type = begin?.time.type;
  if (lastTime === null || type === undefined || type.kind === "integer") return null;
  if (type.kind === "date") return nowMs - Number(lastTime) * DAY_MS;
  return nowMs - Number(BigInt(lastTime) / (UNITS_PER_SECOND[type.unit] / 1_000n));
}

function positionOf({ committed: { lastTime }, begin }: Ledger): string | null {
  return lastTime === null || begin === null ? null : formatTime(BigInt(lastTime), begin.time.type);
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
  /** What would be made again because the job has changed. */
  readonly rebuild: WaitingRebuild | null;
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

async function planRun({ journal, engine }: RunConfig, job: JobConfig, nowMs: number): Promise<PlannedRun> {
  using store = await JobStore.open(journal, job.name, "read");
  const runner = new JobRunner(job, new SharedHost(engine), store, BATCH_LIMITS, () => {});
  const { inputs, factors, rebuild } = await runner.plan();
  return {
    job: job.name,
    factors,
    rebuild,
    newFiles: inputs.length,
    newRows: inputs.reduce((sum, { rowCount }) => sum + rowCount, 0),
    position: positionOf(store.ledger),
    nextRun: nextRun(job, nowMs),
  };
}
