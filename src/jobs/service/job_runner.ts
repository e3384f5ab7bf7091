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
import { DataError } from "../../errors.ts";
import type { EngineHost } from "../../evaluation/evaluation.ts";
import type { JobConfig, QuerySource } from "../config/config.ts";
import { rowsMisplaced } from "../errors.ts";
import { expectInput, isUnfinished, listSourceFiles } from "../input/input_files.ts";
import {
  ascendingRuns,
  type BadInput,
  type FoundInputs,
  findNewInputs,
  type NewInput,
  orderMistake,
  type Reading,
  readToEnd,
} from "../input/new_inputs.ts";
import { takeQueryRows } from "../input/query_inputs.ts";
import type { JobStore } from "../ledger/job_store.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { InputColumns, Universe } from "../ledger/records.ts";
import { JobSink } from "../output/sink.ts";
import type { StagedResults } from "../output/staged_results.ts";
import { JobGroups } from "../state/job_groups.ts";
import {
  compileJob,
  expectSameSettings,
  type FormulaTexts,
  type JobProgram,
  readFormulas,
  settingsOf,
} from "../state/job_program.ts";
import { JobState } from "../state/job_state.ts";
import { type BatchLimits, type EvaluatedInput, evaluateBatch } from "./evaluate_batch.ts";
import type { RunEvent, RunSignals, Step } from "./run_events.ts";
import type { SharedHost } from "./shared_host.ts";

/** A run; its reading ends with either of both signals, and gives no results. */
interface Run extends Reading {
  readonly texts: FormulaTexts;
  readonly signals: RunSignals;
}

/** `unfinished`: a file is still being written, so that later files must wait. */
type Outcome = "done" | "unfinished";

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
    this.#onEvent = onEvent;
  }

  /**
   * Evaluates all new input. Batches that were committed before a failure stay committed.
   *
   * @throws FormulaError, DataError, UsageError, ResourceError; the reason of the signal that ends the run early.
   */
  async run(signals: RunSignals): Promise<void> {
    using databases = new ReusedDatabases();
    const run = await this.#beginRun(signals, databases);
    await this.#completePending();
    const found = await this.#findInputs(run, this.#store.queryFolder);
    if (found.unfinished !== null) this.#onEvent({ kind: "unfinished", path: found.unfinished });
    for (const inputs of ascendingRuns(found.inputs))
      if ((await this.#evaluateAll(inputs, run)) === "unfinished") break;
    if (found.inputs.length > 0) await this.#sink.discardStaged();
    for (const input of found.bad) await this.#skip(input);
  }

  /**
   * What a run would evaluate, without changing anything: new inputs, and factors where columns are known.
   *
   * @throws what a run would fail with before it evaluates anything.
   */
  async plan(): Promise<{ readonly inputs: readonly NewInput[]; readonly factors: number | null }> {
    using databases = new ReusedDatabases();
    const { signal } = new AbortController();
    const run = await this.#beginRun({ abort: signal, stop: signal }, databases);
    const { begin, universe, sequence } = this.#ledger;
    if (begin === null) await this.#sink.expectEmpty();
    await using folder = await mkdtempDisposable(join(tmpdir(), "factorloom-dry-run-"));
    const { inputs, bad } = await this.#findInputs(run, folder.path);
    if (bad[0] && !this.#isSkipping) throw bad[0].error;
    const columns = begin ?? inputs[0];
    if (columns === undefined) return { inputs, factors: null };
    const { factors, ownGroups } = await this.#programFor(columns, run);
    if (inputs.length > 0 && sequence > 0)
      await this.#groups.forUniverse(columns, ownGroups, universe!.symbols, universe);
    return { inputs, factors: factors.length };
  }

  async close(): Promise<void> {
    await this.#closeState();
    this.#store[Symbol.dispose]();
  }

  /** @throws UsageError E531 for other settings, DataError E367 for another sink than that of the ledger. */
  async #beginRun(signals: RunSignals, { open }: ReusedDatabases): Promise<Run> {
    const texts = await readFormulas(this.#job);
    const signal = AbortSignal.any([signals.abort, signals.stop]);
    const run = { texts, signals, names: this.#job.source, open, signal };
    const { begin } = this.#ledger;
    if (begin !== null) expectSameSettings(this.#job, await this.#programFor(begin, run), begin);
    await this.#sink.check("newest");
    return run;
  }

  /** @param target the folder for new rows of a query */
  async #findInputs(run: Run, target: string): Promise<FoundInputs> {
    const { source, badInput } = this.#job;
    const paths =
      source.kind === "files" ? await listSourceFiles(source) : await this.#takeRows(source, run, target);
    await expectInput(source, paths, this.#ledger);
    return await findNewInputs(paths, this.#ledger, run, badInput);
  }

  async #programFor(columns: InputColumns, { texts }: Run): Promise<JobProgram> {
    const { fieldNames, groupNames, time } = columns;
    const key = JSON.stringify([[...texts], fieldNames, groupNames, time, await this.#groups.stamp()]);
    if (this.#compiled?.key !== key)
      this.#compiled = { key, program: await compileJob(this.#job, texts, columns, this.#groups) };
    return this.#compiled.program;
  }

  /** Evaluates inputs of ascending times over the symbols of all of them. */
  async #evaluateAll(found: readonly NewInput[], run: Run): Promise<Outcome> {
    await this.#begin(found[0]!, run);
    const program = await this.#programFor(this.#ledger.begin!, run);
    const { good, outcome } = await this.#checkNewSymbols(found, program, run);
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
      if (failure !== null && (await this.#handleFailure(inputs[0]!, failure)) === "unfinished")
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

  /** Files with all rows of a query. @throws DataError E361 unless earlier rows are as they were, or may be others. */
  async #takeRows(source: QuerySource, run: Run, target: string): Promise<readonly string[]> {
    const { name, badInput } = this.#job;
    // What formulas read of earlier rows must stay.
    const columnsRead = async () => {
      if (this.#ledger.begin === null) return [];
      const { fields, groups } = (await this.#programFor(this.#ledger.begin, run)).read;
      return [...fields, ...groups].map((column) => source.rename?.[column] ?? column);
    };
    const options = { leaveOutIncomplete: badInput === "skip", columnsRead };
    const taken = await takeQueryRows(source, this.#store.queryFolder, target, this.#ledger, options);
    if (taken.incompleteRows > 0) this.#onEvent({ kind: "incomplete_rows", count: taken.incompleteRows });
    const misplaced = (["late", "vanished", "changed"] as const).filter((kind) => taken[kind].count > 0);
    for (const kind of misplaced) this.#onEvent({ kind: `${kind}_rows`, ...taken[kind] });
    if (badInput === "fail" && misplaced.length > 0) throw rowsMisplaced(name, taken);
    return taken.paths;
  }

  /** Files are skipped, rows of a query are not: they are corrected in the database. */
  get #isSkipping(): boolean {
    return this.#job.badInput === "skip" && this.#job.source.kind !== "duckdb";
  }

  /** @throws unless files are skipped. */
  async #skip({ path, sha256, error }: BadInput): Promise<void> {
    if (!this.#isSkipping) throw error;
    const reason = error.problem;
    this.#ledger.passOver({ path, sha256, reason });
    this.#onEvent({ kind: "skipped", path, code: error.code, reason });
  }

  /** The first evaluated file determines the columns; until one succeeds, they are those of the file being tried. */
  async #begin({ fieldNames, groupNames, time }: NewInput, run: Run): Promise<void> {
    const { begin: before, batch } = this.#ledger;
    const columns = { fieldNames, groupNames, time };
    if (batch !== null || (before !== null && isDeepStrictEqual({ ...before, ...columns }, before))) return;
    if (before === null) await this.#sink.expectEmpty();
    const program = await this.#programFor(columns, run);
    const kept = { factors: program.factors, settings: settingsOf(this.#job, program) };
    const id = before?.id ?? randomUUID();
    await this.#closeState();
    this.#ledger.keep({ begin: { id, ...kept, ...columns } });
  }

  /**
   * Reads inputs with new symbols to their end before they are evaluated, and drops those that are late or unreadable: a
   * symbol stays in the panel forever, and a new one makes the state be recomputed. The very first input is not read ahead.
   */
  async #checkNewSymbols(
    inputs: readonly NewInput[],
    { read }: JobProgram,
    run: Run,
  ): Promise<{ readonly good: NewInput[]; readonly outcome: Outcome }> {
    const { universe, sequence } = this.#ledger;
    const known = new Set(sequence === 0 ? inputs[0]?.symbols : universe?.symbols);
    const good: NewInput[] = [];
    for (const input of inputs) {
      const isKnown = input.symbols.every((symbol) => known.has(symbol));
      try {
        if (!isKnown) {
          const mistake = orderMistake(input, this.#ledger);
          if (mistake !== null) throw mistake;
          await readToEnd(input, run, read);
        }
      } catch (error) {
        if ((await this.#handleFailure(input, error)) === "unfinished")
          return { good, outcome: "unfinished" };
        continue;
      }
      for (const symbol of input.symbols) known.add(symbol);
      good.push(input);
    }
    return { good, outcome: "done" };
  }

  /**
   * Adds lanes for all symbols of the inputs before the first of them is evaluated.
   *
   * @throws UsageError E531 if groups of symbols with rows of before have changed.
   */
  async #growUniverse(inputs: readonly NewInput[], program: JobProgram): Promise<void> {
    const { universe, begin, sequence } = this.#ledger;
    const known = sequence === 0 ? null : universe;
    const found = inputs.flatMap((input) => input.symbols);
    const symbols = [...new Set([...(known?.symbols ?? []), ...found])].sort();
    if (symbols.length === 0) return;
    const groups = await this.#groups.forUniverse(begin!, program.ownGroups, symbols, known);
    const grown: Universe = { symbols, groups };
    if (isDeepStrictEqual(grown, universe)) return;
    this.#ledger.keep({ universe: grown });
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

  /** Skips a file whose rows are wrong, or finds that it is still being written. @throws other errors. */
  async #handleFailure({ file }: NewInput, error: unknown): Promise<Outcome> {
    if (!(error instanceof DataError)) throw error;
    if (await isUnfinished(file)) {
      this.#onEvent({ kind: "unfinished", path: file.path });
      return "unfinished";
    }
    await this.#skip({ ...file, error });
    return "done";
  }

  /** Evaluates and commits the first inputs, or fails at one of them and commits nothing. */
  async #evaluateBatch(
    run: Run,
    inputs: readonly NewInput[],
  ): Promise<{ readonly goodCount: number; readonly failure: unknown }> {
    const mistake = orderMistake(inputs[0]!, this.#ledger);
    if (mistake !== null) return { goodCount: 0, failure: mistake };
    const program = await this.#programFor(this.#ledger.begin!, run);
    const open = await this.#openState(program, run);
    const { begin, universe, sequence } = this.#ledger;
    const { origin } = program.program;
    const columns = { time: begin!.time, symbols: universe!.symbols, factors: program.factors, origin };
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
      if (failure === null) await this.#commit(open, staged, evaluated, run.signals.abort);
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
    const inputs = evaluated.map(({ input: { file, rowCount, firstTime, lastTime } }) => {
      return { ...file, rowCount, firstTime: String(firstTime), lastTime: String(lastTime) };
    });
    this.#ledger.prepare({ inputs, rows, outputs, checkpoint });
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
