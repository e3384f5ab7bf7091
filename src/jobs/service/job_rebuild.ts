/**
 * Follows a job that has changed. New rows go on with the formulas of the results; behind them all results are made again
 * with the job as it is, beside those that readers see, and replace them in one step.
 */
import { isDeepStrictEqual } from "node:util";
import type { OpenDatabase } from "../../data/duckdb/database.ts";
import type { JobConfig } from "../config/config.ts";
import { rebuildRefused } from "../errors.ts";
import { openInput, type Reading } from "../input/new_inputs.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { BeginRecord, WaitingRebuild } from "../ledger/records.ts";
import type { JobSink } from "../output/sink.ts";
import { rebuildResults } from "../rebuild/rebuild_results.ts";
import type { JobGroups } from "../state/job_groups.ts";
import {
  changeOf,
  type FormulaTexts,
  fingerprintsOf,
  type JobChange,
  type JobProgram,
  madeWith,
} from "../state/job_program.ts";
import { expectConsumed } from "../state/job_state.ts";
import type { RunEvent, RunSignals, Step } from "./run_events.ts";
import type { SharedHost } from "./shared_host.ts";

/** What results are to be made again with. */
export interface RebuildPlan {
  readonly texts: FormulaTexts;
  readonly program: JobProgram;
  readonly change: JobChange;
  /** Whether the sink may hold anything: nothing of it is read. */
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
  return { texts, program, change: { changed: ["sink", ...changed], ...whole }, isRepair: true };
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
  const rebuild = { texts, program, change, isRepair: false };
  return { ...same, job: { ...job, ...formulas }, texts: new Map(before), rebuild };
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
  sizeOf({ change: { changed, evaluated: factors } }: RebuildPlan): WaitingRebuild {
    return { changed: changed.join(", "), factors, cells: this.#ledger.counts.rows * factors.length };
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
    const { texts, program, change, isRepair } = plan;
    const size = this.sizeOf(plan);
    if (change.evaluated.length > 0) await expectConsumed(this.#ledger);
    this.#onEvent({ kind: "changed", ...size });
    const { begin, universe } = this.#ledger;
    const isRenamed = change.changed.includes("renames");
    const symbols = isRenamed ? await symbolsOf(this.#ledger, run) : universe!.symbols;
    const known = { ...universe!, until: String(this.#ledger.lastTime) };
    const { groups, relabelled } = await this.#groups.forUniverse(begin!, program.ownGroups, symbols, known);
    for (const one of relabelled) this.#onEvent({ kind: "relabelled", ...one });
    const made = { universe: { symbols, groups }, program, change, ledger: this.#ledger, sink: this.#sink };
    const keepInfinite = this.#job.call.keepInfinite === true;
    const { open } = run;
    const staged = await rebuildResults({
      ...made,
      keepInfinite,
      isRepair,
      host: await host.current(),
      reading: run,
      open,
    });
    this.#step("staged", this.#ledger.sequence + 1);
    run.signals.abort.throwIfAborted();
    const columns = { factors: change.columns, generation: await this.#sink.nextGeneration() };
    const next = { ...begin!, ...madeWith(this.#job, program, texts), ...columns };
    const { universe: lanes } = made;
    this.#ledger.prepareRebuild(
      { begin: next, universe: lanes, rows: staged.rows, isRepair },
      staged.outputs,
    );
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

/** All symbols of the input, under their names of now. */
async function symbolsOf({ consumed }: Ledger, { names, open }: Reading): Promise<string[]> {
  const symbols = new Set<string>();
  for (const { path } of [...consumed.pages()].flat()) {
    const source = await openInput(path, names, open);
    for (const symbol of source.symbols) symbols.add(symbol);
    await source.close();
  }
  return [...symbols].sort();
}
