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
import type { Reading } from "../input/input_source.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { BeginRecord, WaitingRebuild } from "../ledger/records.ts";
import type { JobSink } from "../output/sink.ts";
import { ALL_TIMES, type RebuildRange, rebuildResults } from "../rebuild/rebuild_results.ts";
import { columnsOf } from "../state/history.ts";
import type { JobGroups } from "../state/job_groups.ts";
import {
  changeOf,
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
  const rebuild = { texts, program, change, changed: null };
  return { ...same, job: { ...job, ...formulas }, texts: new Map(before), rebuild };
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
    const { texts, program, change, changed } = plan;
    const size = this.sizeOf(plan);
    this.#onEvent({ kind: "changed", ...size });
    const { begin, universe } = this.#ledger;
    const symbols = [...new Set([...universe!.symbols, ...(changed?.symbols ?? [])])].sort();
    const groups = await this.#groups.forUniverse(begin!, program.ownGroups, symbols, universe);
    const made = { universe: { symbols, groups }, program, change, ledger: this.#ledger, sink: this.#sink };
    const keepInfinite = this.#job.call.keepInfinite === true;
    const { open } = run;
    const { staged, differs, times } = await rebuildResults({
      ...made,
      changed: changed?.times ?? [],
      range: rangeOf(plan, this.#ledger),
      keepInfinite,
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
    const columns = { factors: change.columns, generation: begin!.generation + 1 };
    const next = { ...begin!, ...madeWith(this.#job, program, texts), ...columns };
    const results = { begin: next, universe: made.universe, rows: staged.rows };
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
