/**
 * Follows a job that has changed. New rows go on with the formulas of the results; behind them all results are made again
 * with the job as it is, beside those that readers see, and replace them in one step.
 */
import { basename } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { OpenDatabase } from "../../data/duckdb/database.ts";
import { formatTime } from "../../data/time/time_text.ts";
import type { TimeType } from "../../panel.ts";
import { counted } from "../../text/counted.ts";
import type { JobConfig } from "../config/config.ts";
import { rangeText, rebuildRefused } from "../errors.ts";
import type { ChangedInput } from "../input/changed_inputs.ts";
import { openInput, type Reading } from "../input/input_source.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { BeginRecord, WaitingRebuild } from "../ledger/records.ts";
import type { JobSink } from "../output/sink.ts";
import { ALL_TIMES, neededFiles, type RebuildRange, rebuildResults } from "../rebuild/rebuild_results.ts";
import { columnsOf } from "../state/history.ts";
import type { JobGroups } from "../state/job_groups.ts";
import {
  changeOf,
  changeOfInput,
  type FormulaTexts,
  fingerprintsOf,
  type JobChange,
  type JobProgram,
  madeWith,
} from "../state/job_program.ts";
import type { RunEvent, RunSignals, Step } from "./run_events.ts";
import type { SharedHost } from "./shared_host.ts";

/** What results are to be made again with. */
export interface RebuildPlan {
  readonly texts: FormulaTexts;
  readonly program: JobProgram;
  readonly change: JobChange;
  /** Rows of before that are others now. */
  readonly changed: ChangedInput | null;
  /** Whether the sink may hold anything: nothing of it is read, and the input is taken as it is. */
  readonly isRepair: boolean;
}

/** All results of a job, from the input alone. @throws UsageError E531 as `changeOf`. */
export function wholeRebuild(
  job: JobConfig,
  program: JobProgram,
  texts: FormulaTexts,
  begin: BeginRecord,
): RebuildPlan {
  const { changed = [], columns = begin.factors } = changeOf(job, program, begin) ?? {};
  const whole = { columns, evaluated: program.factors, kept: new Map(), needsRebuild: true };
  const change = { changed: ["sink", ...changed], ...whole };
  return { texts, program, change, changed: null, isRepair: true };
}

/** What new rows of a job are evaluated with, and what is done because it has changed. */
export interface FollowedJob {
  readonly job: JobConfig;
  readonly texts: FormulaTexts;
  /** What the ledger is to say of a job that has changed, whose results are as they would be; else null. */
  readonly renewed: BeginRecord | null;
  /** Null if the job has not changed. */
  readonly rebuild: RebuildPlan | null;
}

/** @throws UsageError E531 for a change that no rebuild can follow, or must not. */
export function followed(
  job: JobConfig,
  program: JobProgram,
  texts: FormulaTexts,
  begin: BeginRecord,
): FollowedJob {
  const same = { job, texts, renewed: null, rebuild: null };
  const change = changeOf(job, program, begin);
  if (change === null) return same;
  if (job.changes === "fail") throw rebuildRefused(job.name, change.changed.join(", "));
  if (!change.needsRebuild) return { ...same, renewed: { ...begin, ...madeWith(job, program, texts) } };
  const { texts: before, ...formulas } = begin.formulas;
  const rebuild = { texts, program, change, changed: null, isRepair: false };
  return { ...same, job: { ...job, ...formulas }, texts: new Map(before), rebuild };
}

/** What is to be made again because input has changed, and perhaps the job as well. */
export function inputRebuild(
  { texts, rebuild }: FollowedJob,
  program: JobProgram,
  begin: BeginRecord,
  changed: ChangedInput,
): RebuildPlan {
  const change = changeOfInput(program, rebuild?.change ?? null, begin);
  return { texts: rebuild?.texts ?? texts, program, change, changed, isRepair: false };
}

/** Whether the job is as it was. */
function isOfInput({ change }: RebuildPlan): boolean {
  return change.changed.length === 1 && change.changed[0] === "input";
}

/** The times whose results may be others. */
function rangeOf(plan: RebuildPlan, { times }: Ledger): RebuildRange {
  const [first, last] = ALL_TIMES;
  if (plan.change.evaluated.length === 0) return { start: last, from: 1n, to: 0n };
  // Rows that were not written before may be now, and the other way round.
  if (plan.changed === null || !isOfInput(plan)) return { start: first, from: first, to: last };
  const { historyRows } = plan.program;
  const [from, to] = [plan.changed.times[0]!.time, plan.changed.times.at(-1)!.time];
  if (historyRows === Number.POSITIVE_INFINITY) return { start: first, from, to: last };
  return { start: times.before(from, historyRows), from, to: times.after(to, historyRows) };
}

function changedText({ times }: ChangedInput, type: TimeType): string {
  const paths = [...new Set(times.map(({ path }) => basename(path)))];
  const files = paths.length > 3 ? [...paths.slice(0, 3), "..."] : paths;
  const [first, last] = [times[0]!, times.at(-1)!].map(({ time }) => formatTime(time, type));
  return `${counted(times.length, "time")}, ${rangeText(first!, last!)}, of ${files.join(", ")}`;
}

/** Whether new rows can go on as before: code of operators may have changed. */
export function isAsBefore(program: JobProgram, { fingerprints }: BeginRecord): boolean {
  return isDeepStrictEqual(fingerprintsOf(program), fingerprints);
}

export interface RebuildRun extends Reading {
  readonly open: OpenDatabase;
  readonly signals: RunSignals;
}

export class JobRebuild {
  readonly #job: JobConfig;
  readonly #ledger: Ledger;
  readonly #sink: JobSink;
  readonly #groups: JobGroups;
  readonly #onEvent: (event: RunEvent) => void;

  constructor(
    job: JobConfig,
    ledger: Ledger,
    sink: JobSink,
    groups: JobGroups,
    onEvent: (event: RunEvent) => void,
  ) {
    this.#job = job;
    this.#ledger = ledger;
    this.#sink = sink;
    this.#groups = groups;
    this.#onEvent = onEvent;
  }

  /** How much is to be done. */
  sizeOf(plan: RebuildPlan): WaitingRebuild {
    const { counts, times, begin } = this.#ledger;
    const { changed, evaluated: factors } = plan.change;
    const { from, to } = rangeOf(plan, this.#ledger);
    const share = times.count(from, to) / Math.max(1, times.count(...ALL_TIMES));
    const cells = Math.ceil(counts.rows * share) * factors.length;
    const input = plan.changed === null ? "" : ` (${changedText(plan.changed, begin!.time.type)})`;
    return { changed: changed.join(", ") + input, factors, cells };
  }

  /** Whether a run may do it by itself. */
  isSmall(plan: RebuildPlan): boolean {
    return this.sizeOf(plan).cells <= this.#job.limit;
  }

  /** The rebuild waits until it is applied. */
  wait(plan: RebuildPlan): void {
    const waiting = this.sizeOf(plan);
    this.#ledger.keep({ waiting });
    this.#onEvent({ kind: "waiting", ...waiting });
  }

  /** @throws as `rebuildResults`; the reason of the signal. Results are as before then. */
  async run(plan: RebuildPlan, host: SharedHost, run: RebuildRun): Promise<void> {
    const { texts, program, change, changed, isRepair } = plan;
    const size = this.sizeOf(plan);
    const range = rangeOf(plan, this.#ledger);
    const changedTimes = changed?.times ?? [];
    const files = await neededFiles(this.#ledger, changedTimes, range);
    this.#onEvent({ kind: "changed", ...size });
    const { begin, universe } = this.#ledger;
    // Under their names of now; a file that is taken as it is may have others.
    const isRenamed = change.changed.includes("renames");
    const before = isRenamed ? [] : universe!.symbols;
    const own = isRenamed || isRepair ? await symbolsOf(files, run) : (changed?.symbols ?? []);
    const symbols = [...new Set([...before, ...own])].sort();
    const known = { ...universe!, until: String(this.#ledger.lastTime) };
    const { groups, relabelled } = await this.#groups.forUniverse(begin!, program.ownGroups, symbols, known);
    for (const one of relabelled) this.#onEvent({ kind: "relabelled", ...one });
    const made = { universe: { symbols, groups }, program, change, ledger: this.#ledger, sink: this.#sink };
    const keepInfinite = this.#job.call.keepInfinite === true;
    const { open } = run;
    const { staged, differs, times } = await rebuildResults({
      ...made,
      changed: changedTimes,
      range,
      keepInfinite,
      isRepair,
      host: await host.current(),
      reading: run,
      open,
    });
    this.#step("staged", this.#ledger.sequence + 1);
    run.signals.abort.throwIfAborted();
    const { digested } = columnsOf(this.#ledger, program);
    const taken = { inputs: changed?.inputs ?? [], times, digested };
    if (!differs && isOfInput(plan)) {
      this.#ledger.takeChanged(taken, made.universe);
      await this.#sink.discardRebuild();
      this.#onEvent({ kind: "rebuilt", ...size });
      return;
    }
    const columns = { factors: change.columns, generation: await this.#sink.nextGeneration() };
    const next = { ...begin!, ...madeWith(this.#job, program, texts), ...columns };
    const results = { begin: next, universe: made.universe, rows: staged.rows, isRepair };
    this.#ledger.prepareRebuild(results, staged.outputs, taken);
    this.#step("prepared", this.#ledger.rebuilt!.sequence);
    await this.finish();
    this.#onEvent({ kind: "rebuilt", ...size });
  }

  /** Shows results that were made before. */
  async finish(): Promise<void> {
    const { rebuilt, rebuiltOutputs } = this.#ledger;
    if (rebuilt === null) return;
    await this.#sink.publishRebuild(rebuilt, rebuiltOutputs.newest(1));
    this.#step("published", rebuilt.sequence);
    this.#ledger.commitRebuild();
    await this.#sink.discardStaged();
  }

  #step(step: Step, sequence: number): void {
    this.#onEvent({ kind: "step", step, sequence, files: 0 });
  }
}

/** All symbols of files, under their names of now. */
async function symbolsOf(paths: Iterable<string>, { names, open }: Reading): Promise<ReadonlySet<string>> {
  const symbols = new Set<string>();
  for (const path of paths) {
    const source = await openInput(path, names, open);
    for (const symbol of source.symbols) symbols.add(symbol);
    await source.close();
  }
  return symbols;
}
