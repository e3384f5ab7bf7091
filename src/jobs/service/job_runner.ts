/**
 * Runs one job. Each batch of inputs is committed in this order, so that a crash leaves either nothing of it or a batch
 * that the next run completes: stage and sync results, write and sync a checkpoint, journal `prepared`, publish results,
 * journal `committed`. A run first checks the sink, completes a prepared batch and removes other staged results.
 */
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { type OpenDatabase, ReusedDatabases } from "../../data/duckdb/database.ts";
import { formatTime } from "../../data/time/time_text.ts";
import { DataError } from "../../errors.ts";
import type { EngineHost } from "../../evaluation/evaluation.ts";
import type { JobConfig } from "../config/config.ts";
import { expectInput, isUnfinished, listSourceFiles } from "../input/input_files.ts";
import {
  ascendingRuns,
  type BadInput,
  checkOrder,
  findNewInputs,
  type NewInput,
  type Reading,
  readToEnd,
} from "../input/new_inputs.ts";
import { expectInPlace, takeQueryRows } from "../input/query_inputs.ts";
import { type JobStore, queryFolder } from "../journal/job_store.ts";
import type { BeginRecord, InputColumns, UniverseRecord } from "../journal/records.ts";
import { JobSink } from "../output/sink.ts";
import type { StagedResults } from "../output/staged_results.ts";
import { groupsRead } from "../state/job_groups.ts";
import {
  compileJob,
  expectSameSettings,
  type FormulaTexts,
  type JobProgram,
  queryOptions,
  readFormulas,
  settingsOf,
} from "../state/job_program.ts";
import { JobState } from "../state/job_state.ts";
import { type BatchLimits, type EvaluatedInput, evaluateBatch } from "./evaluate_batch.ts";
import type { RunEvent, RunSignals, Step } from "./run_events.ts";
import type { SharedHost } from "./shared_host.ts";

interface Run {
  readonly texts: FormulaTexts;
  readonly settings: BeginRecord["settings"];
  readonly signals: RunSignals;
  readonly open: OpenDatabase;
  /** Either of both signals: for work that gives no results. */
  readonly ended: AbortSignal;
}

/** `unfinished`: a file is still being written, so that later files must wait. */
type Outcome = "done" | "unfinished";

interface OpenState {
  readonly host: EngineHost;
  readonly state: JobState;
  readonly program: JobProgram;
  /** The last batch that the state includes; null while a batch is being evaluated. */
  sequence: number | null;
}

export class JobRunner {
  readonly #job: JobConfig;
  readonly #host: SharedHost;
  readonly #store: JobStore;
  readonly #journalFolder: string;
  readonly #limits: BatchLimits;
  readonly #sink: JobSink;
  readonly #onEvent: (event: RunEvent) => void;
  /** Kept open between runs. */
  #open: OpenState | null = null;
  /** The program for the columns and texts that it was asked for last. */
  #compiled: { readonly key: string; readonly program: JobProgram } | null = null;

  constructor(
    job: JobConfig,
    host: SharedHost,
    store: JobStore,
    journalFolder: string,
    limits: BatchLimits,
    onEvent: (event: RunEvent) => void,
  ) {
    this.#job = job;
    this.#host = host;
    this.#store = store;
    this.#journalFolder = journalFolder;
    this.#limits = limits;
    this.#sink = new JobSink(job, store.history);
    this.#onEvent = onEvent;
  }

  /**
   * Evaluates all new input. Batches that were committed before a failure stay committed.
   *
   * @throws FormulaError, DataError, UsageError, ResourceError; the reason of the signal that ends the run early.
   */
  async run(signals: RunSignals): Promise<void> {
    using databases = new ReusedDatabases();
    const ended = AbortSignal.any([signals.abort, signals.stop]);
    const texts = await readFormulas(this.#job);
    const settings = settingsOf(this.#job, texts, this.#host.engineDigest);
    const run = { texts, settings, signals, open: databases.open, ended };
    const { begin } = this.#store.history;
    if (begin !== null) expectSameSettings(this.#job, settings, begin);
    await this.#sink.check("newest");
    await this.#completePending();
    const paths = await this.#inputPaths(run);
    const { history } = this.#store;
    await expectInput(this.#job.source, paths, history);
    const found = await findNewInputs(paths, history, this.#readingOf(run), this.#job.badInput);
    if (found.unfinished !== null) this.#onEvent({ kind: "unfinished", path: found.unfinished });
    for (const inputs of ascendingRuns(found.inputs))
      if ((await this.#evaluateAll(inputs, run)) === "unfinished") break;
    if (found.inputs.length > 0) await this.#sink.discardStaged();
    for (const input of found.bad) await this.#skip(input);
  }

  async close(): Promise<void> {
    await this.#closeState();
    await this.#store.close();
  }

  #readingOf({ open, ended }: Run): Reading {
    return { names: this.#job.source, open, signal: ended };
  }

  async #programFor(columns: InputColumns, { texts }: Run): Promise<JobProgram> {
    const { fieldNames, groupNames, time } = columns;
    const key = JSON.stringify([[...texts], fieldNames, groupNames, time]);
    if (this.#compiled?.key !== key)
      this.#compiled = { key, program: await compileJob(this.#job, texts, columns) };
    return this.#compiled.program;
  }

  /** Evaluates inputs of ascending times over the symbols of all of them. */
  async #evaluateAll(found: readonly NewInput[], run: Run): Promise<Outcome> {
    const { history } = this.#store;
    await this.#begin(found[0]!, run);
    const program = await this.#programFor(history.begin!, run);
    const { good, outcome } = await this.#checkNewSymbols(found, program, run);
    let inputs: readonly NewInput[] = good;
    let batchMax = inputs.length;
    await this.#growUniverse(inputs, program);
    while (inputs.length > 0) {
      run.ended.throwIfAborted();
      await this.#begin(inputs[0]!, run);
      const { failure, goodCount } = await this.#evaluateBatch(run, inputs.slice(0, batchMax));
      // The next batch evaluates the inputs before the failed one again, without it.
      batchMax = failure !== null && goodCount > 0 ? goodCount : inputs.length;
      if (failure !== null && goodCount > 0) continue;
      if (failure !== null && (await this.#handleFailure(inputs[0]!, failure)) === "unfinished")
        return "unfinished";
      inputs = inputs.slice(Math.max(1, goodCount));
      // The very first file may have brought symbols that no good file has.
      if (history.sequence === 0) await this.#growUniverse(inputs, program);
    }
    return outcome;
  }

  async #completePending(): Promise<void> {
    const { history } = this.#store;
    const { prepared } = history;
    if (prepared && history.isPending) {
      const { sequence, inputs, rows } = prepared;
      await this.#sink.publish(prepared);
      await this.#store.append({ kind: "committed", sequence });
      this.#onEvent({ kind: "completed", sequence, files: inputs.length, rows });
    }
    await this.#sink.discardStaged();
    await this.#store.removeOldCheckpoints();
    if (this.#open?.sequence !== history.sequence) await this.#closeState();
  }

  async #inputPaths(run: Run): Promise<readonly string[]> {
    const { source, name } = this.#job;
    if (source.kind === "files") return await listSourceFiles(source);
    const { paths, incompleteRows, ...changes } = await takeQueryRows(
      source,
      queryFolder(this.#journalFolder, name),
      this.#store.history,
      queryOptions(this.#job, this.#store.history, (begin) => this.#programFor(begin, run)),
    );
    if (incompleteRows > 0) this.#onEvent({ kind: "incomplete_rows", count: incompleteRows });
    const { late, vanished, changed } = changes;
    if (late.count > 0) this.#onEvent({ kind: "late_rows", ...late });
    if (vanished.count > 0) this.#onEvent({ kind: "vanished_rows", ...vanished });
    if (changed.count > 0) this.#onEvent({ kind: "changed_rows", ...changed });
    expectInPlace(this.#job, changes);
    return paths;
  }

  /** Files are skipped, rows of a query are not: they are corrected in the database. @throws unless files are skipped. */
  async #skip({ path, sha256, error }: BadInput): Promise<void> {
    if (this.#job.badInput === "fail" || this.#job.source.kind === "duckdb") throw error;
    const reason = error.problem;
    await this.#store.append({ kind: "skipped", path, sha256, reason });
    this.#onEvent({ kind: "skipped", path, code: error.code, reason });
  }

  /** The first evaluated file determines the columns; until one succeeds, they are those of the file being tried. */
  async #begin({ fieldNames, groupNames, time }: NewInput, run: Run): Promise<void> {
    const { begin: before, prepared } = this.#store.history;
    const columns = { fieldNames, groupNames, time };
    if (prepared !== null || (before !== null && isDeepStrictEqual(pickColumns(before), columns))) return;
    if (before === null) await this.#sink.expectEmpty();
    const { factors } = await this.#programFor(columns, run);
    const id = before?.id ?? randomUUID();
    await this.#closeState();
    const { settings } = run;
    await this.#store.append({ kind: "begin", job: this.#job.name, id, factors, settings, ...columns });
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
    const { universe, sequence } = this.#store.history;
    const known = new Set(sequence === 0 ? inputs[0]?.symbols : universe?.symbols);
    const good: NewInput[] = [];
    for (const input of inputs) {
      const isKnown = input.symbols.every((symbol) => known.has(symbol));
      try {
        if (!isKnown) {
          checkOrder(input, this.#store.history);
          await readToEnd(input, this.#readingOf(run), read);
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
    const { universe, begin, sequence } = this.#store.history;
    const known = sequence === 0 ? null : universe;
    const symbols = [
      ...new Set([known?.symbols ?? [], ...inputs.map((input) => input.symbols)].flat()),
    ].sort();
    if (symbols.length === 0) return;
    const groups = await groupsRead(this.#job, begin!, program.ownGroups, symbols, known);
    const grown: UniverseRecord = { kind: "universe", symbols, groups };
    if (isDeepStrictEqual(grown, universe)) return;
    await this.#store.append(grown);
    this.#onEvent({ kind: "symbols", count: symbols.length });
  }

  async #openState(run: Run): Promise<OpenState> {
    const { history } = this.#store;
    const { sequence } = history;
    const host = await this.#host.current();
    if (this.#open?.sequence === sequence && this.#open.host === host && !history.universeIsNewer)
      return this.#open;
    await this.#closeState();
    const program = await this.#programFor(history.begin!, run);
    const state = await JobState.current({
      job: this.#job,
      host,
      store: this.#store,
      program,
      open: run.open,
      signal: run.ended,
      onRebuild: (reason, files) => this.#onEvent({ kind: "rebuilding", reason, files }),
    });
    this.#open = { host, state, program, sequence };
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
    const { history } = this.#store;
    const [first] = inputs;
    try {
      checkOrder(first!, history);
    } catch (failure) {
      return { goodCount: 0, failure };
    }
    const open = await this.#openState(run);
    const { symbols } = open.state;
    const { factors, isWritten } = open.program;
    const columns = { time: history.begin!.time, symbols, factors };
    const staged = this.#sink.stage(history.sequence + 1, columns, isWritten);
    open.sequence = null;
    try {
      const { evaluated, saved, failure, goodCount } = await evaluateBatch(inputs, {
        state: open.state,
        staged,
        history,
        limits: this.#limits,
        reading: { ...this.#readingOf(run), signal: run.signals.abort },
        stop: run.signals.stop,
        onEvaluated: (path) => this.#onEvent({ kind: "evaluated", path }),
      });
      if (saved !== null) await this.#commit(open, staged, evaluated, saved, run.signals.abort);
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
    saved: readonly Uint8Array[],
    signal: AbortSignal,
  ): Promise<void> {
    const { history } = this.#store;
    const sequence = history.sequence + 1;
    const step = (name: Step) =>
      this.#onEvent({ kind: "step", step: name, sequence, files: evaluated.length });
    await staged.finish();
    step("staged");
    const checkpoint = await this.#store.writeCheckpoint(sequence, saved);
    step("checkpointed");
    signal.throwIfAborted();
    const { outputs, rows } = staged;
    const inputs = evaluated.map(({ input: { file, rowCount, firstTime, lastTime } }) => {
      return { ...file, rowCount, firstTime: String(firstTime), lastTime: String(lastTime) };
    });
    await this.#store.append({ kind: "prepared", sequence, inputs, rows, outputs, checkpoint });
    step("prepared");
    await this.#sink.publish(history.prepared!);
    step("published");
    await this.#store.append({ kind: "committed", sequence });
    open.sequence = sequence;
    for (const { input, rows: own } of evaluated) {
      const evaluatedTo = formatTime(input.lastTime, history.begin!.time.type);
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

function pickColumns({ fieldNames, groupNames, time }: InputColumns): InputColumns {
  return { fieldNames, groupNames, time };
}
