/**
 * Runs of one job. Inputs are carried through in batches, each in this order, so that after a crash at any moment it was
 * either never begun or is completed: results staged and synced, checkpoint written and synced, journal `prepared`,
 * results published, journal `committed`. A run first checks the sink, completes what is prepared and removes what is not.
 */
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { type OpenDatabase, ReusedDatabases } from "../../data/duckdb/database.ts";
import { notOpened } from "../../data/errors.ts";
import { formatTime } from "../../data/time/time_text.ts";
import { DataError } from "../../errors.ts";
import type { EngineHost } from "../../evaluation/evaluation.ts";
import type { JobConfig } from "../config/config.ts";
import { jobChanged, rowsLate } from "../errors.ts";
import { isUnfinished, listInputFiles } from "../input/input_files.ts";
import {
  type BadInput,
  checkOrder,
  findNewInputs,
  followingEachOther,
  type NewInput,
  type Reading,
  readToEnd,
} from "../input/new_inputs.ts";
import { takeQueryRows } from "../input/query_inputs.ts";
import { type JobStore, queryFolder } from "../journal/job_store.ts";
import { JobSink } from "../output/sink.ts";
import type { StagedResults } from "../output/staged_results.ts";
import { openCurrentState } from "../state/current_state.ts";
import { groupsDigest, readJobGroups } from "../state/job_groups.ts";
import {
  compileJob,
  type FormulaTexts,
  factorNames,
  type InputColumns,
  type JobProgram,
  readFormulas,
  settingsOf,
} from "../state/job_programs.ts";
import type { JobState } from "../state/job_state.ts";
import { type BatchLimits, type EvaluatedInput, evaluateBatch } from "./evaluate_batch.ts";
import type { RunEvent, RunSignals, Step } from "./run_events.ts";

/** What the parts of a run need. */
interface Run {
  readonly texts: FormulaTexts;
  readonly signals: RunSignals;
  readonly open: OpenDatabase;
  /** Of both signals: for work that gives no results. */
  readonly ended: AbortSignal;
}

interface OpenState {
  readonly state: JobState;
  readonly programs: readonly JobProgram[];
  /** The batch after which the state stands; null while one is under way. */
  sequence: number | null;
}

export class JobRunner {
  readonly #job: JobConfig;
  readonly #host: EngineHost;
  readonly #store: JobStore;
  readonly #journalFolder: string;
  readonly #limits: BatchLimits;
  readonly #sink: JobSink;
  readonly #onEvent: (event: RunEvent) => void;
  /** Stays open between runs. */
  #open: OpenState | null = null;

  constructor(
    job: JobConfig,
    host: EngineHost,
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
   * Evaluates all input that is new. What was committed before it fails stays committed.
   *
   * @throws FormulaError, DataError, UsageError, ResourceError; the reason of the signal that ends it before its time.
   */
  async run(signals: RunSignals): Promise<void> {
    using databases = new ReusedDatabases();
    const ended = AbortSignal.any([signals.abort, signals.stop]);
    const run = { texts: await readFormulas(this.#job), signals, open: databases.open, ended };
    this.#expectSameSettings(run.texts);
    await this.#sink.check("newest");
    await this.#completePending();
    const paths = await this.#inputPaths();
    const found = await findNewInputs(paths, this.#store.history, this.#readingOf(run));
    for (const input of found.bad) await this.#passOver(input);
    if (found.unfinished !== null) this.#onEvent({ kind: "unfinished", path: found.unfinished });
    if (found.inputs.length === 0) return;
    for (const inputs of followingEachOther(found.inputs))
      if ((await this.#evaluateAll(inputs, run)) === "unfinished") break;
    await this.#sink.discardStaged();
  }

  async close(): Promise<void> {
    await this.#closeState();
    await this.#store.close();
  }

  #readingOf({ open, ended }: Run): Reading {
    return { names: this.#job.source, open, signal: ended };
  }

  /** Inputs whose rows follow each other; they see their symbols together. */
  async #evaluateAll(found: readonly NewInput[], run: Run): Promise<"dealt_with" | "unfinished"> {
    const { history } = this.#store;
    await this.#begin(found[0]!, run.texts);
    const { good, outcome } = await this.#withGoodSymbols(found, run);
    let inputs: readonly NewInput[] = good;
    let batchMax = inputs.length;
    await this.#growUniverse(inputs);
    while (inputs.length > 0) {
      run.ended.throwIfAborted();
      await this.#begin(inputs[0]!, run.texts);
      const { evaluated, failure } = await this.#evaluateBatch(run, inputs.slice(0, batchMax));
      // What fails comes to its turn alone: those before it are evaluated once more, as if it had not been there.
      batchMax = failure !== null && evaluated > 0 ? evaluated : inputs.length;
      if (failure !== null && evaluated > 0) continue;
      if (failure !== null && (await this.#dealWith(inputs[0]!, failure)) === "unfinished")
        return "unfinished";
      inputs = inputs.slice(Math.max(1, evaluated));
      // The first file of all may have brought symbols that no good file has.
      if (history.sequence === 0) await this.#growUniverse(inputs);
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

  /** @throws UsageError E531 if something changed that results of before depend on. */
  #expectSameSettings(texts: FormulaTexts): void {
    const begin = this.#store.history.begin;
    if (begin === null) return;
    const settings = settingsOf(this.#job, texts);
    for (const [name, digest] of Object.entries(settings)) {
      if (begin.settings[name] !== digest) throw jobChanged(this.#job.name, name);
    }
  }

  async #inputPaths(): Promise<readonly string[]> {
    const { source, name, badInput } = this.#job;
    if (source.kind === "files")
      return await listInputFiles(source).catch((error: NodeJS.ErrnoException) => {
        throw notOpened(`${source.folder}`, String(error.code), "check source.folder");
      });
    const { paths, incompleteRows, ...amiss } = await takeQueryRows(
      source,
      queryFolder(this.#journalFolder, name),
      this.#store.history,
      badInput === "skip",
    );
    if (incompleteRows > 0) this.#onEvent({ kind: "incomplete_rows", count: incompleteRows });
    const { late, vanished } = amiss;
    if (late.count > 0) this.#onEvent({ kind: "late_rows", ...late });
    if (vanished.count > 0) this.#onEvent({ kind: "vanished_rows", ...vanished });
    if (badInput === "fail" && late.count + vanished.count > 0) throw rowsLate(name, amiss);
    return paths;
  }

  /** Rows of a query are put right where they are; the file that we made of them is not passed over with all of them. */
  async #passOver({ path, sha256, error }: BadInput): Promise<void> {
    if (this.#job.badInput === "fail" || this.#job.source.kind === "duckdb") throw error;
    const reason = error.problem;
    if (sha256 !== null) await this.#store.append({ kind: "skipped", path, sha256, reason });
    this.#onEvent({ kind: "skipped", path, code: error.code, reason });
  }

  /** The first file that is evaluated says which columns there are: until then they are those of the one that is tried. */
  async #begin({ fieldNames, groupNames, time }: NewInput, texts: FormulaTexts): Promise<void> {
    const { begin: before, prepared } = this.#store.history;
    const columns = { fieldNames, groupNames, time };
    if (prepared !== null || (before !== null && isDeepStrictEqual(pickColumns(before), columns))) return;
    if (before === null) await this.#sink.expectEmpty();
    const ownGroups = await readJobGroups(this.#job, columns, []);
    const factors = factorNames(await this.#programs(columns, texts, ownGroups.keys()));
    const settings = settingsOf(this.#job, texts);
    const id = before?.id ?? randomUUID();
    await this.#closeState();
    await this.#store.append({ kind: "begin", job: this.#job.name, id, factors, settings, ...columns });
  }

  /**
   * The inputs without those that bring new symbols and are late or cannot be read to their end: symbols stay in the panel for good,
   * and a new one makes the state be computed again. The first input of all is evaluated without a look ahead.
   */
  async #withGoodSymbols(
    inputs: readonly NewInput[],
    run: Run,
  ): Promise<{ readonly good: NewInput[]; readonly outcome: "dealt_with" | "unfinished" }> {
    const { begin, universe, sequence } = this.#store.history;
    const ownGroups = await readJobGroups(this.#job, begin!, []);
    const programs = await this.#programs(begin!, run.texts, ownGroups.keys());
    const read = (of: (program: JobProgram) => readonly string[]) => [...new Set(programs.flatMap(of))];
    const fields = read((program) => program.read.fields);
    const groups = read((program) => program.read.groups).filter((name) => !ownGroups.has(name));
    const known = new Set(sequence === 0 ? inputs[0]?.symbols : universe?.symbols);
    const good: NewInput[] = [];
    for (const input of inputs) {
      const isKnown = input.symbols.every((symbol) => known.has(symbol));
      try {
        if (!isKnown) {
          checkOrder(input, this.#store.history);
          await readToEnd(input, this.#readingOf(run), { fields, groups });
        }
      } catch (error) {
        if (await isUnfinished(input.file, error)) {
          this.#onEvent({ kind: "unfinished", path: input.file.path });
          return { good, outcome: "unfinished" };
        }
        if (!(error instanceof DataError)) throw error;
        await this.#passOver({ ...input.file, error });
        continue;
      }
      for (const symbol of input.symbols) known.add(symbol);
      good.push(input);
    }
    return { good, outcome: "dealt_with" };
  }

  /** The panel gets the lanes of all symbols that the run will see, before it sees the first of them. */
  async #growUniverse(inputs: readonly NewInput[]): Promise<void> {
    const { history } = this.#store;
    const before = history.universe?.symbols ?? [];
    const known = history.sequence === 0 ? [] : before;
    await this.#expectSameGroups();
    const symbols = [...new Set([...known, ...inputs.flatMap((input) => input.symbols)])].sort(byCodeUnits);
    if (symbols.length === 0 || symbols.join("\n") === before.join("\n")) return;
    const groups = groupsDigest(await readJobGroups(this.#job, history.begin!, symbols));
    await this.#store.append({ kind: "universe", symbols, groups });
    this.#onEvent({ kind: "symbols", count: symbols.length });
  }

  async #expectSameGroups(): Promise<void> {
    const { begin, universe } = this.#store.history;
    if (begin === null || universe === null) return;
    const groups = await readJobGroups(this.#job, begin, universe.symbols);
    if (groupsDigest(groups) !== universe.groups)
      throw jobChanged(this.#job.name, "the groups of known symbols");
  }

  async #programs(
    begin: InputColumns,
    texts: FormulaTexts,
    ownGroups: Iterable<string>,
  ): Promise<JobProgram[]> {
    return await compileJob(this.#job, texts, { ...begin, groupNames: [...begin.groupNames, ...ownGroups] });
  }

  async #openState({ texts, open, ended }: Run): Promise<OpenState> {
    const { history } = this.#store;
    const { sequence } = history;
    if (this.#open?.sequence === sequence && !history.universeIsNewer) return this.#open;
    await this.#closeState();
    const ownGroups = await readJobGroups(this.#job, history.begin!, history.universe!.symbols);
    const programs = await this.#programs(history.begin!, texts, ownGroups.keys());
    const state = await openCurrentState({
      job: this.#job,
      host: this.#host,
      store: this.#store,
      programs,
      ownGroups,
      open,
      signal: ended,
      onRebuild: (reason, files) => this.#onEvent({ kind: "rebuilding", reason, files }),
    });
    this.#open = { state, programs, sequence };
    return this.#open;
  }

  /** What is wrong with the rows of a file shows only when they are read, and so does that it still grows. */
  async #dealWith({ file }: NewInput, error: unknown): Promise<"dealt_with" | "unfinished"> {
    if (await isUnfinished(file, error)) {
      this.#onEvent({ kind: "unfinished", path: file.path });
      return "unfinished";
    }
    if (!(error instanceof DataError)) throw error;
    await this.#passOver({ ...file, error });
    return "dealt_with";
  }

  /** Evaluates and commits the first of the inputs, or fails at one of them and commits nothing. */
  async #evaluateBatch(
    run: Run,
    inputs: readonly NewInput[],
  ): Promise<{ readonly evaluated: number; readonly failure: unknown }> {
    const { history } = this.#store;
    const [first] = inputs;
    try {
      checkOrder(first!, history);
    } catch (failure) {
      return { evaluated: 0, failure };
    }
    const open = await this.#openState(run);
    const staged = this.#sink.stage(history.sequence + 1, {
      time: history.begin!.time,
      symbols: open.state.symbols,
      factors: factorNames(open.programs),
    });
    open.sequence = null;
    try {
      const { evaluated, failure } = await evaluateBatch(inputs, {
        state: open.state,
        staged,
        history,
        limits: this.#limits,
        reading: { ...this.#readingOf(run), signal: run.signals.abort },
        stop: run.signals.stop,
        onEvaluated: (path) => this.#onEvent({ kind: "evaluated", path }),
      });
      if (failure === null) await this.#commit(open, staged, evaluated, run.signals.abort);
      else {
        await staged.abort();
        await this.#sink.discardStaged();
      }
      return { evaluated: evaluated.length, failure };
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
    const { history } = this.#store;
    const sequence = history.sequence + 1;
    const step = (name: Step) =>
      this.#onEvent({ kind: "step", step: name, sequence, files: evaluated.length });
    await staged.finish();
    step("staged");
    const checkpoint = await this.#store.writeCheckpoint(sequence, open.state.pack());
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

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
