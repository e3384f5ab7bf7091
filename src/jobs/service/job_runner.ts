/**
 * Runs one job. Each batch of inputs is committed in this order, so that a crash leaves either nothing of it or a batch
 * that the next run completes: stage and sync results, write and sync a checkpoint, note it as prepared, publish results,
 * note it as committed. A run first checks the sink, completes a prepared batch and removes other staged results.
 */
import { randomUUID } from "node:crypto";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { ReusedDatabases } from "../../data/duckdb/database.ts";
import { formatTime } from "../../data/time/time_text.ts";
import type { EngineHost } from "../../evaluation/evaluation.ts";
import type { JobConfig } from "../config/config.ts";
import { rebuildRefused } from "../errors.ts";
import { type DigestedColumns, type NewInput, type Reading, timeMistake } from "../input/input_source.ts";
import type { FoundInputs } from "../input/new_inputs.ts";
import type { JobStore } from "../ledger/job_store.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { InputColumns, Universe, WaitingRebuild } from "../ledger/records.ts";
import { JobSink } from "../output/sink.ts";
import type { StagedResults } from "../output/staged_results.ts";
import { columnsOf } from "../state/history.ts";
import { JobGroups } from "../state/job_groups.ts";
import { compileJob, type JobProgram, madeWith, readFormulas } from "../state/job_program.ts";
import { JobState } from "../state/job_state.ts";
import { type BatchLimits, type EvaluatedInput, evaluateBatch } from "./evaluate_batch.ts";
import { JobInputs, type Outcome } from "./job_inputs.ts";
import {
  type FollowedJob,
  followed,
  inputRebuild,
  isAsBefore,
  JobRebuild,
  type RebuildPlan,
  wholeRebuild,
} from "./job_rebuild.ts";
import type { RunEvent, RunSignals, Step } from "./run_events.ts";
import type { SharedHost } from "./shared_host.ts";

/** A run; its reading ends with either of both signals, and gives no results. */
interface Run extends Reading, FollowedJob {
  readonly signals: RunSignals;
}

interface OpenState {
  readonly host: EngineHost;
  readonly state: JobState;
  readonly universe: Universe | null;
  /** The last batch that the state includes; null while a batch is being evaluated. */
  sequence: number | null;
}

export class JobRunner {
  readonly #job: JobConfig;
  readonly #host: SharedHost;
  readonly #store: JobStore;
  readonly #ledger: Ledger;
  readonly #limits: BatchLimits;
  readonly #sink: JobSink;
  readonly #groups: JobGroups;
  readonly #inputs: JobInputs;
  readonly #rebuild: JobRebuild;
  readonly #onEvent: (event: RunEvent) => void;
  /** Kept open between runs. */
  #open: OpenState | null = null;
  /** The program for the texts, columns and table of groups that it was asked for last. */
  #compiled: { readonly key: string; readonly program: JobProgram } | null = null;

  constructor(
    job: JobConfig,
    host: SharedHost,
    store: JobStore,
    limits: BatchLimits,
    onEvent: (event: RunEvent) => void,
  ) {
    this.#job = job;
    this.#host = host;
    this.#store = store;
    this.#ledger = store.ledger;
    this.#groups = new JobGroups(job);
    this.#limits = limits;
    this.#sink = new JobSink(job, store.ledger);
    this.#inputs = new JobInputs(job, store, onEvent);
    this.#rebuild = new JobRebuild(job, store.ledger, this.#sink, this.#groups, onEvent);
    this.#onEvent = onEvent;
  }

  /**
   * Evaluates all new input. Batches that were committed before a failure stay committed.
   *
   * @throws FormulaError, DataError, UsageError, ResourceError; the reason of the signal that ends the run early.
   */
  async run(signals: RunSignals, isApplied = false): Promise<void> {
    using databases = new ReusedDatabases();
    // What has changed is seen against the results that are shown.
    await this.#rebuild.finish();
    const run = await this.#beginRun(signals, databases, isApplied);
    await this.#completePending();
    if (run.renewed !== null) this.#ledger.keep({ begin: run.renewed });
    const isOther = await this.#isOther(run);
    if (isOther && !isApplied && !this.#rebuild.isSmall(run.rebuild!))
      throw rebuildRefused(this.#job.name, "operators");
    const found = await this.#inputs.find(run.job, run, () => this.#columnsRead(run, isOther));
    const { same, bad, unfinished, hasMore } = found;
    if (same.inputs.length > 0 || [...same.times].length > 0) this.#ledger.take(same);
    const plan = await this.#planOf(run, found);
    const isDone = plan !== null && (isApplied || this.#rebuild.isSmall(plan));
    // Without a checkpoint new rows need all that is looked back on, as it was; one that is there may be damaged.
    const isLost = isApplied || this.#ledger.batch?.checkpoint === null;
    const isFirst = isDone && isLost && bad.length === 0;
    if (isOther || isFirst) {
      await this.#makeAgain(plan!, run);
      return await this.run(signals);
    }
    if (unfinished !== null) this.#onEvent({ kind: "unfinished", path: unfinished });
    const outcome = found.inputs.length === 0 ? "done" : await this.#evaluateAll(found.inputs, run);
    if (found.inputs.length > 0) await this.#sink.discardStaged();
    for (const input of bad) this.#inputs.passOver(input);
    if (hasMore && outcome === "done") return await this.run(signals, isApplied);
    if (plan === null && this.#ledger.waiting !== null) this.#ledger.keep({ waiting: null });
    if (isDone) await this.#makeAgain(plan, run);
    else if (plan !== null) this.#rebuild.wait(plan);
  }

  /**
   * Makes all results again from the input, whatever the sink holds, and takes it over where the ledger knows of nothing.
   *
   * @throws as `run`; DataError E361 for input that is gone, before anything is computed.
   */
  async repair(signals: RunSignals): Promise<void> {
    using databases = new ReusedDatabases();
    const run = await this.#runOf(signals, databases);
    if (this.#ledger.batch === null) await this.#adopt(run);
    const begin = this.#ledger.begin!;
    const plan = wholeRebuild(run.job, await this.#programFor(begin, run), run.texts, begin);
    await this.#makeAgain(plan, run);
  }

  /** Notes all input as evaluated, with no results. What overlaps with earlier files is left to the next run. */
  async #adopt(run: Run): Promise<void> {
    const { inputs, hasMore } = await this.#inputs.findWhole(run, () => this.#columnsRead(run));
    if (inputs.length === 0) return;
    await this.#begin(inputs[0]!, run);
    const program = await this.#programFor(this.#ledger.begin!, run);
    await this.#growUniverse(inputs, program);
    await this.#inputs.adopt(inputs, columnsOf(this.#ledger, program), run);
    if (hasMore) await this.#adopt(run);
  }

  /**
   * What a run would evaluate, without changing anything: new inputs, and factors where columns are known.
   *
   * @throws what a run would fail with before it evaluates anything.
   */
  async plan(): Promise<{
    readonly inputs: readonly NewInput[];
    readonly factors: number | null;
    readonly rebuild: WaitingRebuild | null;
  }> {
    using databases = new ReusedDatabases();
    const { signal } = new AbortController();
    const run = await this.#beginRun({ abort: signal, stop: signal }, databases);
    const { begin } = this.#ledger;
    await using folder = await mkdtempDisposable(join(tmpdir(), "factorloom-dry-run-"));
    const found = await this.#inputs.find(run.job, run, () => this.#columnsRead(run), folder.path);
    const { inputs, bad } = found;
    const plan = await this.#planOf(run, found);
    if (bad[0] && !this.#inputs.isSkipping) throw bad[0].error;
    const columns = begin ?? inputs[0];
    if (columns === undefined) return { inputs, factors: null, rebuild: null };
    const { factors } = await this.#programFor(columns, run);
    return { inputs, factors: factors.length, rebuild: plan && this.#rebuild.sizeOf(plan) };
  }

  async close(): Promise<void> {
    await this.#closeState();
    this.#store[Symbol.dispose]();
  }

  /** @throws UsageError E531 as `followed`, DataError E367 for another sink than that of the ledger. */
  async #beginRun(signals: RunSignals, databases: ReusedDatabases, isApplied = false): Promise<Run> {
    const run = await this.#runOf(signals, databases);
    const job: JobConfig = isApplied ? { ...this.#job, changes: "rebuild" } : this.#job;
    const { begin, batch } = this.#ledger;
    if (begin === null) await this.#sink.expectEmpty();
    // Without results there is nothing to be made again.
    const follow = batch && followed(job, await this.#programFor(begin!, run), run.texts, begin!);
    await this.#sink.check("newest");
    return { ...run, ...follow };
  }

  async #runOf(signals: RunSignals, { open }: ReusedDatabases): Promise<Run> {
    const job = this.#job;
    const texts = await readFormulas(job);
    const signal = AbortSignal.any([signals.abort, signals.stop]);
    return { job, texts, signals, names: job.source, open, signal, renewed: null, rebuild: null };
  }

  /** What formulas read of rows that were evaluated. */
  async #columnsRead(run: Run, isOther = false): Promise<DigestedColumns> {
    const { begin } = this.#ledger;
    if (begin === null) return { fields: [], groups: [], digested: [] };
    return columnsOf(this.#ledger, isOther ? run.rebuild!.program : await this.#programFor(begin, run));
  }

  /** What is to be made again because the job or its input has changed. */
  async #planOf(run: Run, { changed }: FoundInputs): Promise<RebuildPlan | null> {
    if (changed === null) return run.rebuild;
    const begin = this.#ledger.begin!;
    const program = run.rebuild?.program ?? (await this.#programFor(begin, run));
    return inputRebuild(run, program, begin, changed);
  }

  /** Whether new rows cannot go on with the formulas of the results: code of operators is another one, or gone. */
  async #isOther(run: Run): Promise<boolean> {
    const { begin } = this.#ledger;
    if (run.rebuild === null) return false;
    return await this.#programFor(begin!, run).then(
      (program) => !isAsBefore(program, begin!),
      () => true,
    );
  }

  async #makeAgain(plan: RebuildPlan, run: Run): Promise<void> {
    await this.#closeState();
    await this.#rebuild.run(plan, this.#host, run);
  }

  async #programFor(shape: InputColumns, { job, texts }: Run): Promise<JobProgram> {
    const { fieldNames, groupNames, time } = shape;
    const columns = { fieldNames, groupNames, time };
    const key = JSON.stringify([[...texts], job.program, job.call, columns, await this.#groups.stamp()]);
    if (this.#compiled?.key !== key)
      this.#compiled = { key, program: await compileJob(job, texts, columns, this.#groups) };
    return this.#compiled.program;
  }

  /** Evaluates inputs of ascending times over the symbols of all of them. */
  async #evaluateAll(found: readonly NewInput[], run: Run): Promise<Outcome> {
    await this.#begin(found[0]!, run);
    const program = await this.#programFor(this.#ledger.begin!, run);
    const { good, outcome } = await this.#inputs.checkNewSymbols(found, program.read, run);
    let inputs: readonly NewInput[] = good;
    let batchMax = inputs.length;
    await this.#growUniverse(inputs, program);
    while (inputs.length > 0) {
      run.signal.throwIfAborted();
      await this.#begin(inputs[0]!, run);
      const { failure, goodCount } = await this.#evaluateBatch(run, inputs.slice(0, batchMax));
      // The next batch evaluates the inputs before the failed one again, without it.
      batchMax = failure !== null && goodCount > 0 ? goodCount : inputs.length;
      if (failure !== null && goodCount > 0) continue;
      if (failure !== null && (await this.#inputs.handleFailure(inputs[0]!, failure)) === "unfinished")
        return "unfinished";
      inputs = inputs.slice(Math.max(1, goodCount));
      // The very first file may have brought symbols that no good file has.
      if (this.#ledger.sequence === 0) await this.#growUniverse(inputs, program);
    }
    return outcome;
  }

  async #completePending(): Promise<void> {
    const { batch, isPending } = this.#ledger;
    if (batch !== null && isPending) {
      const { sequence, files, rows, outputs } = batch;
      await this.#sink.publish(sequence, this.#ledger.outputs.newest(outputs));
      this.#ledger.commit();
      this.#onEvent({ kind: "completed", sequence, files, rows });
    }
    await this.#sink.discardStaged();
    await this.#store.removeOldCheckpoints();
    if (this.#open?.sequence !== this.#ledger.sequence) await this.#closeState();
  }

  /** The first evaluated file determines the columns; until one succeeds, they are those of the file being tried. */
  async #begin({ fieldNames, groupNames, time }: NewInput, run: Run): Promise<void> {
    const { begin: before, batch } = this.#ledger;
    if (batch !== null) return;
    const columns = { fieldNames, groupNames, time };
    const program = await this.#programFor(columns, run);
    const made = { factors: program.factors, ...madeWith(run.job, program, run.texts) };
    const begin = { id: before?.id ?? randomUUID(), generation: 1, ...made, ...columns };
    if (isDeepStrictEqual(begin, before)) return;
    await this.#closeState();
    this.#ledger.keep({ begin });
  }

  /** Adds lanes for all symbols of the inputs before the first of them is evaluated. */
  async #growUniverse(inputs: readonly NewInput[], { ownGroups }: JobProgram): Promise<void> {
    const { universe, begin, sequence } = this.#ledger;
    const known = sequence === 0 ? null : universe;
    const found = inputs.flatMap((input) => input.symbols);
    const symbols = [...new Set([...(known?.symbols ?? []), ...found])].sort();
    if (symbols.length === 0) return;
    const labelled = known && { ...known, until: String(this.#ledger.lastTime) };
    const { groups, relabelled } = await this.#groups.forUniverse(begin!, ownGroups, symbols, labelled);
    const grown: Universe = { symbols, groups };
    if (isDeepStrictEqual(grown, universe)) return;
    this.#ledger.keep({ universe: grown });
    for (const change of relabelled) this.#onEvent({ kind: "relabelled", ...change });
    if (symbols.length !== universe?.symbols.length)
      this.#onEvent({ kind: "symbols", count: symbols.length });
  }

  async #openState(program: JobProgram, run: Run): Promise<OpenState> {
    const { sequence, universe } = this.#ledger;
    const host = await this.#host.current();
    const open = this.#open;
    if (open?.sequence === sequence && open.host === host && open.universe === universe) return open;
    await this.#closeState();
    const state = await JobState.current({
      host,
      store: this.#store,
      program,
      reading: run,
      onRebuild: (reason, files) => this.#onEvent({ kind: "rebuilding", reason, files }),
    });
    this.#open = { host, state, universe, sequence };
    return this.#open;
  }

  /** Evaluates and commits the first inputs, or fails at one of them and commits nothing. */
  async #evaluateBatch(
    run: Run,
    inputs: readonly NewInput[],
  ): Promise<{ readonly goodCount: number; readonly failure: unknown }> {
    const mistake = this.#ledger.sequence === 0 ? null : timeMistake(inputs[0]!, this.#ledger.begin!);
    if (mistake !== null) return { goodCount: 0, failure: mistake };
    const program = await this.#programFor(this.#ledger.begin!, run);
    const open = await this.#openState(program, run);
    const { begin, universe, sequence } = this.#ledger;
    const { factors, time } = begin!;
    const columns = { time, symbols: universe!.symbols, factors, origin: program.program.origin };
    const staged = this.#sink.stage(sequence + 1, columns, program.isWritten);
    open.sequence = null;
    try {
      const { evaluated, failure, goodCount } = await evaluateBatch(inputs, {
        state: open.state,
        staged,
        ledger: this.#ledger,
        limits: this.#limits,
        reading: { ...run, signal: run.signals.abort },
        stop: run.signals.stop,
        onEvaluated: (path) => this.#onEvent({ kind: "evaluated", path }),
      });
      if (failure === null) await this.#commit(open, program, staged, evaluated, run.signals.abort);
      else {
        await staged.abort();
        await this.#sink.discardStaged();
      }
      return { goodCount, failure };
    } catch (error) {
      await staged.abort();
      throw error;
    }
  }

  async #commit(
    open: OpenState,
    program: JobProgram,
    staged: StagedResults,
    evaluated: readonly EvaluatedInput[],
    signal: AbortSignal,
  ): Promise<void> {
    const sequence = this.#ledger.sequence + 1;
    const step = (name: Step) =>
      this.#onEvent({ kind: "step", step: name, sequence, files: evaluated.length });
    await staged.finish();
    step("staged");
    const checkpoint = await open.state.save(this.#store, sequence);
    step("checkpointed");
    signal.throwIfAborted();
    const { outputs, rows } = staged;
    const inputs = evaluated.map(({ input: { file } }) => file);
    const times = evaluated.flatMap(({ input, digests }) =>
      digests.map((digest) => ({ ...digest, path: input.file.path })),
    );
    const lastTime = String(evaluated.at(-1)!.input.lastTime);
    const { digested } = columnsOf(this.#ledger, program);
    this.#ledger.prepare({ inputs, times, digested, lastTime, rows, outputs, checkpoint });
    step("prepared");
    await this.#sink.publish(sequence, outputs);
    step("published");
    this.#ledger.commit();
    open.sequence = sequence;
    for (const { input, rows: own } of evaluated) {
      const evaluatedTo = formatTime(input.lastTime, this.#ledger.begin!.time.type);
      this.#onEvent({ kind: "committed", path: input.file.path, rows: own, evaluatedTo });
    }
    await this.#store.removeOldCheckpoints();
  }

  async #closeState(): Promise<void> {
    const open = this.#open;
    this.#open = null;
    await open?.state.close();
  }
}
