/** The input of a job: what is new, what is passed over, and what is still being written. */
import { DataError } from "../../errors.ts";
import type { JobConfig, QuerySource } from "../config/config.ts";
import { changesWhileRead, nothingToRepair, rowsMisplaced } from "../errors.ts";
import { timesOf } from "../input/changed_inputs.ts";
import { expectInput, isUnfinished, listSourceFiles } from "../input/input_files.ts";
import {
  type BadInput,
  type DigestedColumns,
  type FileColumns,
  type NewInput,
  type Reading,
  readToEnd,
  timeMistake,
} from "../input/input_source.ts";
import { type FoundInputs, findNewInputs } from "../input/new_inputs.ts";
import { takeQueryRows } from "../input/query_inputs.ts";
import type { JobStore } from "../ledger/job_store.ts";
import type { KnownTime } from "../ledger/time_table.ts";
import type { RunEvent } from "./run_events.ts";

/** `unfinished`: a file is still being written, so that later files must wait. */
export type Outcome = "done" | "unfinished";

export class JobInputs {
  readonly #job: JobConfig;
  readonly #store: JobStore;
  readonly #onEvent: (event: RunEvent) => void;

  constructor(job: JobConfig, store: JobStore, onEvent: (event: RunEvent) => void) {
    this.#job = job;
    this.#store = store;
    this.#onEvent = onEvent;
  }

  /** Files are skipped, rows of a query are not: they are corrected in the database. */
  get isSkipping(): boolean {
    return this.#job.badInput === "skip" && this.#job.source.kind !== "duckdb";
  }

  /**
   * @param job as it is for this run
   * @param columnsRead what formulas read of rows that were evaluated
   * @param target the folder for new rows of a query
   */
  async find(
    job: JobConfig,
    reading: Reading,
    columnsRead: () => Promise<DigestedColumns>,
    target = this.#store.queryFolder,
  ): Promise<FoundInputs> {
    const { source } = job;
    const { ledger } = this.#store;
    const paths =
      source.kind === "files"
        ? await listSourceFiles(source)
        : await this.#takeRows(source, columnsRead, target);
    await expectInput(source, paths, ledger);
    return await findNewInputs(paths, ledger, reading, job, columnsRead);
  }

  /** All input of a job, for a repair. @throws also for a file that is still being written, and where there is none. */
  async findWhole(reading: Reading, columnsRead: () => Promise<DigestedColumns>): Promise<FoundInputs> {
    const found = await this.find(this.#job, reading, columnsRead);
    if (found.unfinished !== null) throw changesWhileRead(found.unfinished);
    for (const input of found.bad) this.passOver(input);
    if (found.inputs.length === 0 && this.#store.ledger.batch === null) throw nothingToRepair(this.#job.name);
    return found;
  }

  /** Notes inputs as evaluated, with no results. @throws as `timesOf` */
  async adopt(inputs: readonly NewInput[], columns: DigestedColumns, reading: Reading): Promise<void> {
    const { ledger } = this.#store;
    const times: KnownTime[] = [];
    for (const input of inputs) times.push(...(await timesOf(input, columns, ledger, reading)));
    const taken = { inputs: inputs.map(({ file }) => file), times, digested: columns.digested };
    const lastTime = String(inputs.at(-1)!.lastTime);
    ledger.prepare({ ...taken, lastTime, rows: 0, outputs: [], checkpoint: null });
    ledger.commit();
  }

  /** @throws unless files are skipped. */
  passOver({ path, sha256, error }: BadInput): void {
    if (!this.isSkipping) throw error;
    const reason = error.problem;
    const since = new Date().toISOString();
    this.#store.ledger.passOver({ path, sha256, reason, since });
    this.#onEvent({ kind: "skipped", path, code: error.code, reason });
  }

  /** Skips a file whose rows are wrong, or finds that it is still being written. @throws other errors. */
  async handleFailure({ file }: NewInput, error: unknown): Promise<Outcome> {
    if (!(error instanceof DataError)) throw error;
    if (await isUnfinished(file)) {
      this.#onEvent({ kind: "unfinished", path: file.path });
      return "unfinished";
    }
    this.passOver({ ...file, error });
    return "done";
  }

  /**
   * Reads inputs with new symbols to their end before they are evaluated, and drops those that are unreadable: a
   * symbol stays in the panel forever, and a new one makes the state be recomputed. The very first input is not read ahead.
   */
  async checkNewSymbols(
    inputs: readonly NewInput[],
    read: FileColumns,
    reading: Reading,
  ): Promise<{ readonly good: NewInput[]; readonly outcome: Outcome }> {
    const { ledger } = this.#store;
    const { universe, sequence } = ledger;
    const known = new Set(sequence === 0 ? inputs[0]?.symbols : universe?.symbols);
    const good: NewInput[] = [];
    for (const input of inputs) {
      const isKnown = input.symbols.every((symbol) => known.has(symbol));
      try {
        const mistake = isKnown || sequence === 0 ? null : timeMistake(input, ledger.begin!);
        if (mistake !== null) throw mistake;
        if (!isKnown) await readToEnd(input, reading, read);
      } catch (error) {
        if ((await this.handleFailure(input, error)) === "unfinished") return { good, outcome: "unfinished" };
        continue;
      }
      for (const symbol of input.symbols) known.add(symbol);
      good.push(input);
    }
    return { good, outcome: "done" };
  }

  /** Files with all rows of a query. @throws DataError E361 unless earlier rows are as they were, or may be others. */
  async #takeRows(
    source: QuerySource,
    read: () => Promise<FileColumns>,
    target: string,
  ): Promise<readonly string[]> {
    const { name, badInput } = this.#job;
    // What formulas read of earlier rows must stay.
    const columnsRead = async () => {
      const { fields, groups } = await read();
      return [...fields, ...groups].map((column) => source.rename?.[column] ?? column);
    };
    const options = { leaveOutIncomplete: badInput === "skip", columnsRead };
    const { queryFolder, ledger } = this.#store;
    const taken = await takeQueryRows(source, queryFolder, target, ledger, options);
    if (taken.incompleteRows > 0) this.#onEvent({ kind: "incomplete_rows", count: taken.incompleteRows });
    const misplaced = (["late", "vanished", "changed"] as const).filter((kind) => taken[kind].count > 0);
    for (const kind of misplaced) this.#onEvent({ kind: `${kind}_rows`, ...taken[kind] });
    if (badInput === "fail" && misplaced.length > 0) throw rowsMisplaced(name, taken);
    return taken.paths;
  }
}
